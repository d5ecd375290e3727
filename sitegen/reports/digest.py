"""What a cached finding depends on, as a hash: the cards, the settings and the code that reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sitegen.config import Config
from sitegen.language import spoken
from sitegen.rules import Definition, engine_version

_ROOMS = ("archive", "language", "leaderboards", "metrics", "reports", "rules", "store")
_SUFFIXES = (".py", ".sql", ".toml", ".md")


def of(*parts: object) -> str:
    """A hash of the `repr` of each part; parts are text, numbers and tuples of them."""
    found = hashlib.sha256()
    for part in parts:
        found.update(repr(part).encode() + b"\0")
    return found.hexdigest()[:32]


def settings(catalog: Sequence[Definition], config: Config) -> str:
    """Hash of all that findings depend on besides the data of the run."""
    cards = tuple(_card(rule) for rule in catalog)
    params = tuple((code, tuple(sorted(values.items()))) for code, values in sorted(config.params.items()))
    return of(engine_version, spoken(), cards, params, config.presets, code())


@cache
def code() -> str:
    """Hash of the rooms that findings pass through, so that a changed installation starts afresh."""
    found = hashlib.sha256()
    for room in _ROOMS:
        for name, data in sorted(_sources(files("sitegen") / room, room)):
            found.update(name.encode() + b"\0" + data)
    return found.hexdigest()[:32]


def _sources(folder: Traversable, name: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        path = f"{name}/{item.name}"
        if item.is_dir():
            found += _sources(item, path)
        elif item.name.endswith(_SUFFIXES):
            found.append((path, item.read_bytes()))
    return found


def _card(rule: Definition) -> tuple[object, ...]:
    """What a card says, without where it lies: a folder that moved changes nothing."""
    card = rule.card
    return (
        rule.code,
        card.title,
        card.summary,
        card.settings,
        card.sql,
        *card.sections.items(),
        card.translations,
        card.cases,
    )
