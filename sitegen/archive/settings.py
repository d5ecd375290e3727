"""The configuration of a run out of what its sources say: which one counts, and where others differ.

What the run printed or sent to a tracker is resolved, so it goes first. MLflow cuts long values, and Hydra's
file holds `${…}` where the run had a value: both give way, MLflow's also where another source has the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.archive.stage import Staged
from sitegen.errors import Problem
from sitegen.model import ConfigSource

_RANK = {"mlflow": 1, "mlflow-files": 1, "tensorboard": 2, "hydra": 3}  # all others 0
_SHOWN = 5  # differing settings named in a problem
_CLIP = 60  # characters of a value in a problem
_HINT = "Attempts of one run may differ on purpose; if they are two runs, give each its own folder."
_UNSET = ("", "none", "null", "~", "???")


@dataclass(frozen=True, slots=True)
class Settings:
    """Values by key, the sources they are of, and what other sources say instead."""

    values: Mapping[str, str]
    sources: tuple[ConfigSource, ...]
    problems: tuple[Problem, ...]


def settled(staged: Sequence[Staged]) -> Settings:
    """Join the configurations of all sources. Of equal sources the first in order counts."""
    said = [each for each in staged if each.config]
    said.sort(key=lambda each: _RANK.get(each.file.format, 0))
    values: dict[str, str] = {}
    origin: dict[str, int] = {}
    for place, each in enumerate(said):
        for key, text in each.config.items():
            if key not in values or _fuller(text, values[key]):
                values[key], origin[key] = text, place
    counts = [0] * len(said)
    for place in origin.values():
        counts[place] += 1
    sources = tuple(
        ConfigSource(each.file.path, each.file.format, len(each.config), n)
        for each, n in zip(said, counts, strict=True)
    )
    problems = (*_differing(said, values, origin), *_code_differing(staged))
    return Settings(dict(sorted(values.items())), sources, problems)


def _differing(
    said: Sequence[Staged], values: Mapping[str, str], origin: Mapping[str, int]
) -> Iterator[Problem]:
    """A problem per pair of sources that differ, with the first settings and both values."""
    for place, each in enumerate(said):
        found: dict[int, list[str]] = {}
        for key in sorted(each.config):
            if origin[key] != place and not same(values[key], each.config[key]):
                found.setdefault(origin[key], []).append(key)
        for other in sorted(found):
            keys = found[other]
            named = [f"{key} = {_clip(values[key])}, here {_clip(each.config[key])}" for key in keys[:_SHOWN]]
            more = f"; and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
            count = "1 setting differs" if len(keys) == 1 else f"{len(keys)} settings differ"
            what = f"{count} from {said[other].file.path}, whose values are shown: {'; '.join(named)}{more}"
            yield Problem(each.file.path, None, "config", what, _HINT)


def _code_differing(staged: Sequence[Staged]) -> Iterator[Problem]:
    """A problem per fact about the code (commit, versions) that a later source states otherwise."""
    first: dict[str, tuple[str, str]] = {}
    for each in staged:
        for key, text in sorted(each.facts.items()):
            if key != "commit" and not key.endswith("_version"):
                continue
            kept, path = first.setdefault(key, (text, each.file.path))
            if not (kept.startswith(text) or text.startswith(kept)):  # short and long forms of one
                what = f"{key.replace('_', ' ')} differs from {path}, which is shown: {kept}, here {text}"
                yield Problem(each.file.path, None, "config", what, _HINT)


def same(kept: str, other: str) -> bool:
    """Whether two texts say one value, or one of them does not say it whole."""
    if kept == other or "${" in kept or "${" in other:
        return True
    a, b = _plain(kept), _plain(other)
    return a == b or _number(a) == _number(b) is not None or _cut(kept, other) or _cut(other, kept)


def canonical(text: str) -> str:
    """What `text` says, however it was written: equal for `1e-6` and `0.000001`, `None` and `null`."""
    bare = _plain(text)
    number = _number(bare)
    return bare if number is None else repr(number)


def _cut(short: str, whole: str) -> bool:
    return len(short) >= 250 and whole.startswith(short.rstrip())


def _fuller(text: str, kept: str) -> bool:
    """Whether a later source has the value that `kept` is only a piece of, or a place holder for."""
    return ("${" in kept and "${" not in text) or (len(text) > len(kept) and _cut(kept, text))


def _plain(text: str) -> str:
    """A value without what only says how it was written: quotes, blanks, the spelling of nothing."""
    bare = "".join(c for c in text if c not in "'\" \n").lower()
    return "none" if bare in _UNSET else bare


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value else None


def _clip(text: str) -> str:
    return text if len(text) <= _CLIP else text[: _CLIP - 1] + "…"
