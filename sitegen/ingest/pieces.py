"""Grammar of verl's metric line: `step:12 - actor/pg_loss:0.5 - critic/score/mean:np.float64(0.1) - …`.

A piece is `name:value`. The name ends at the LAST colon of the piece, because names hold slashes, `@`,
blanks and parentheses (`val/score (not success_rate):0.708`). Values are numbers as Python prints them,
bare or in a numpy or torch wrapper. Nothing is evaluated.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

SEPARATOR = " - "
MAX_PIECE = 400  # characters
# A number beyond every step begins a record too: else the line would go on with the record before it.
STEP = re.compile(r"step: ?(\d{1,4000}+)(?= - |\s*-?\s*$)")

_NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|inf|Infinity)"
_TENSOR = rf"(?:tensor|array|Array|Tensor)\(\[?(?P<b>{_NUMBER})\]?(?:, ?[^()]{{0,80}})?\)"
_VALUE = re.compile(
    rf"(?P<plain>{_NUMBER})|(?:np|numpy|torch|jnp)\.\w+\((?P<a>{_NUMBER})\)|{_TENSOR}"
    r"|(?P<word>(?:np\.)?(?:True|False)_?|None)"
)
_NAME = re.compile(r"\w[^\s/]{0,80}(?:/[^\n]{0,240})?")
_ON_A_DEVICE = re.compile(rf"(?P<name>[^\n]*?):(?P<value>{_TENSOR})")  # tensor(0.5, device='cuda:0')
# a metric with something printed right behind it: prose, a progress bar, another process
_GLUED = re.compile(
    rf"(?P<name>[^\W\d][^\s/:]{{0,80}}/[^\s:]{{1,240}}):(?P<value>{_NUMBER})"
    r"(?P<rest>(?:[\s(<\[|\"'`;]|,(?!\d)|[^\x00-\x7f]|[A-Z][a-z]|/[A-Za-z_.~][\w.~-]*/).*)$"
)
_UNFINISHED = re.compile(r"[A-Za-z_][^\s:]*(?::[-+.\w()]*)?$")

# First parts of names that verl and its forks use: what a step line behind other text must begin with.
GROUPS = frozenset((
    "actor", "actor_infer", "batch", "critic", "data", "env", "episode", "eval", "global_seqlen", "loss",
    "metrics", "mfu", "mismatch", "num_turns", "on_off_metrics", "perf", "prompt", "prompt_length", "ref",
    "response", "response_length", "response_length_non_aborted", "reward", "reward_extra_info",
    "rewards", "rollout", "rollout_corr", "sampling", "self_distillation", "state_tokens", "test",
    "test_score", "time", "timing", "timing_per_token", "timing_per_token_ms", "timing_s", "train",
    "training", "turns", "val", "val-aux", "val-core", "validation", "fully_async", "distillation",
    "teacher", "student", "grpo", "ppo", "dapo",
))  # fmt: skip
_BARE = frozenset((
    "loss", "reward", "score", "lr", "kl", "entropy", "grad_norm", "kl_loss", "pg_loss", "vf_loss", "acc",
    "accuracy",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A readable piece. `value` is None where the metric was printed as `None`."""

    name: str
    value: float | None
    raw: str


@dataclass(frozen=True, slots=True)
class Record:
    """A step line taken apart.

    Args:
        step: as printed.
        values: name -> value, NaN and infinities included.
        unread: pieces that are no metric.
        prose: what was printed behind the last metric, or empty.
        dangling: True when the line ends inside a piece (` - prompt`) or behind a separator.
        last: name of the last piece if that could be read, else None.
        raws: name -> value as printed.
        conflicts: names printed twice with different values; the last one is kept.
    """

    step: int
    values: dict[str, float]
    unread: tuple[str, ...]
    prose: str
    dangling: bool
    last: str | None
    raws: dict[str, str]
    conflicts: tuple[str, ...] = ()


def piece(text: str) -> Piece | None:
    """`text` as `name:value`, or None."""
    if len(text) > MAX_PIECE:
        return None
    name, _, raw = text.rstrip().rpartition(":")
    match = _VALUE.fullmatch(raw)
    if match is not None:
        return Piece(name, _value(match), raw) if _is_name(name) else None
    device = _ON_A_DEVICE.fullmatch(text.rstrip()) if raw.endswith(")") else None
    if device is None or not _is_name(device["name"]):
        return None
    return Piece(device["name"], float(device["b"]), device["value"])


@lru_cache(maxsize=8192)
def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def metric(text: str) -> bool:
    """Whether `text` alone is surely a metric: `group/name:number`."""
    found = piece(text)
    return found is not None and _grouped(found)


def _grouped(found: Piece) -> bool:
    return "/" in found.name and not found.name[0].isdigit()


def unfinished(text: str) -> bool:
    """Whether `text` may be the start of a piece that was cut."""
    return not text.strip(" -") or bool(_UNFINISHED.match(text)) or piece(text) is not None


def number(text: str) -> float | None:
    """A number as Python, numpy or torch prints it; None for anything else."""
    match = _VALUE.fullmatch(text.strip())
    return _value(match) if match else None


def _value(match: re.Match[str]) -> float | None:
    word = match["word"]
    if word:
        return None if word == "None" else float("True" in word)
    return float(match["plain"] or match["a"] or match["b"])


def record(text: str) -> Record | None:
    """`text`, which starts with `step:`, as a record; None when it is not plausible as one."""
    start = STEP.match(text)
    if start is None:
        return None
    texts = _rejoined(text[start.end() :].removeprefix(SEPARATOR).rstrip().split(SEPARATOR))
    if text.rstrip().endswith(" -"):
        texts[-1] = texts[-1].removesuffix(" -").rstrip()
        texts.append("")
    return _record(int(start[1]), texts)


def _rejoined(texts: list[str]) -> list[str]:
    """Pieces, put together again where a name holds ` - ` inside parentheses."""
    joined: list[str] = []
    for text in texts:
        before = joined[-1] if joined else ""
        if before.count("(") > before.count(")") and piece(f"{before}{SEPARATOR}{text}") is not None:
            joined[-1] = f"{before}{SEPARATOR}{text}"
        else:
            joined.append(text)
    return joined


def _record(step: int, texts: list[str]) -> Record | None:
    read = [piece(text) for text in texts]
    prose = ""
    if None in read:
        prose = _unglue(texts, read)
    found = [here for here in read if here is not None]
    if not _plausible(found, texts) or (prose and len(found) == 1 and not _printed_over(found[0], prose)):
        return None
    if len(found) < len(texts) and any(map(_grouped, found)):
        read = [here or _loose(text) for here, text in zip(read, texts, strict=True)]
        found = [here for here in read if here is not None]
    unread = [text for here, text in zip(read, texts, strict=True) if here is None and text]
    last = read[-1].name if read[-1] is not None else None
    dangling = last is None and unfinished(texts[-1])
    return _assembled(step, found, unread, (prose.strip(), dangling, last))


def _printed_over(only: Piece, behind: str) -> bool:
    """Whether a lone metric was printed first, the text behind it by another writer: prose needs a blank."""
    return not behind[0].isspace() and only.name.partition("/")[0] in GROUPS


def _unglue(texts: list[str], read: list[Piece | None]) -> str:
    """Read metrics that something was printed right behind, into `read`; returns what that was."""
    prose = ""
    for index, here in enumerate(read):
        glued = _GLUED.match(texts[index]) if here is None else None
        if glued is not None:
            read[index] = Piece(glued["name"], float(glued["value"]), glued["value"])
            prose = glued["rest"]
    return prose


def _loose(text: str) -> Piece | None:
    """A piece whose group holds blanks: it counts only among others that are beyond doubt."""
    name, _, raw = text.rstrip().rpartition(":")
    match = _VALUE.fullmatch(raw)
    return Piece(name, _value(match), raw) if match and name.strip() and len(text) <= MAX_PIECE else None


def _plausible(found: list[Piece], texts: list[str]) -> bool:
    """Whether the readable pieces are metrics rather than text that happens to look like one.

    A name with a group (`actor/lr`) and a number glued to its colon do not occur in prose; bare names do, so
    they count only where the whole line consists of them.
    """
    grouped = [p for p in found if _grouped(p)]
    if grouped:
        return piece(texts[0]) is not None or 2 * len(grouped) >= len(texts)
    bare = [p for p in found if " " not in p.name and not p.name[0].isdigit()]
    return bool(bare) and len(bare) == len(texts) and (len(bare) >= 2 or bare[0].name in _BARE)


def _assembled(step: int, found: list[Piece], unread: list[str], end: tuple[str, bool, str | None]) -> Record:
    values: dict[str, float] = {}
    raws: dict[str, str] = {}
    conflicts = []
    for here in found:
        if here.value is None:
            continue
        known = values.get(here.name, here.value)
        if known != here.value and not (math.isnan(known) and math.isnan(here.value)):
            conflicts.append(here.name)
        values[here.name] = here.value
        raws[here.name] = here.raw
    return Record(step, values, tuple(unread), *end, raws, tuple(conflicts))
