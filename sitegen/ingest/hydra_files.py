"""What Hydra writes when a run starts: `.hydra/config.yaml`, `overrides.yaml` and `hydra.yaml`.

The configuration is the one before interpolation: `${…}` stands in it where the run had a value. The
overrides are what somebody typed, which is often all that tells one run from the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from sitegen.errors import Problem
from sitegen.ingest import hydra, settings
from sitegen.ingest.source import Source
from sitegen.model import Batch

NAME = "hydra"
FOLDER = ".hydra"
FILES = ("config.yaml", "overrides.yaml", "hydra.yaml")  # the first that is there is claimed
MAX_BYTES = 4 << 20
MAX_OVERRIDES = 8000  # characters kept of what was typed
_KEY = re.compile(rb"^[A-Za-z_]\w*:(?:\s|$)", re.MULTILINE)
_OVERRIDE = re.compile(rb"\A(?:\[\]\s*|(?:- [^\n]*\n?)+)\Z")
_HINT = "The configuration that the run printed or sent to a tracker is used."


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is one of the three, by its place and by what it holds."""
    folder, name = path.rpartition("/")[::2]
    if folder.rpartition("/")[2] != FOLDER or name not in FILES:
        return False
    whole = head[: head.rfind(b"\n") + 1] or head
    return bool((_OVERRIDE if name == "overrides.yaml" else _KEY).search(whole))


def beside(path: str) -> tuple[str, ...]:
    """The files of the folder that come after the one at `path`."""
    folder, _, name = path.rpartition("/")
    return tuple(f"{folder}/{each}" for each in FILES[FILES.index(name) + 1 :]) if name in FILES else ()


def read(source: Source) -> Iterator[Batch]:
    """A batch per file; one that cannot be read becomes a problem."""
    found = (source, *map(source.member, beside(source.path)))
    read = {each.path.rpartition("/")[2]: each for each in found if each is not None}
    for name, each in read.items():
        try:
            yield _batch(name, _tree(each), alone="config.yaml" not in read)
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            what = str(error).splitlines()[0][:200] or "it is nested too deeply"
            problem = Problem(each.path, None, "malformed", f"cannot be read: {what}", _HINT)
            yield Batch(problems=(problem,))


def _tree(source: Source) -> object:
    with source.open() as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES >> 20} MiB, which no configuration is")
    return settings.yaml_tree(raw)


def _batch(name: str, tree: object, alone: bool) -> Batch:
    if name == "overrides.yaml":
        return _overrides(tree, alone)
    if not isinstance(tree, dict):
        raise ValueError("there are no settings in it")
    return Batch(config=settings.flat(tree)) if name == "config.yaml" else Batch(facts=_job(tree))


def _overrides(tree: object, alone: bool) -> Batch:
    """What was typed, as a fact; as settings too where the whole configuration is not there."""
    if not isinstance(tree, list):
        raise ValueError("there is no list of overrides in it")
    typed = [each for each in tree if isinstance(each, str)]
    facts = {"overrides": " ".join(typed)[:MAX_OVERRIDES]} if typed else {}
    return Batch(config=hydra.typed(typed) if alone else {}, facts=facts)


def _job(tree: Mapping[str, object]) -> dict[str, str]:
    """Program and version. Host, folders and environment are of no use here."""
    flat = settings.flat(tree)
    said = {"hydra_version": flat.get("hydra.runtime.version"), "program": flat.get("hydra.job.name")}
    return {key: text for key, text in said.items() if text and text not in ("None", "???")}
