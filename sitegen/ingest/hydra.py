"""The resolved Hydra config that verl prints at its start, and overrides given on a command line.

`pprint` writes the config as a nested dict over some hundred lines; other workers talk in between. Lines
are therefore collected per speaker until the brackets are closed. The result is flat:
`trainer.test_freq` -> "10".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from sitegen.ingest import literals
from sitegen.ingest.text import Line

_SECTIONS = frozenset((
    "actor_rollout_ref", "algorithm", "critic", "data", "reward_model", "trainer", "ray_init",
    "ray_kwargs", "custom_reward_function", "global_profiler", "reward", "optim", "model", "rollout",
    "async_training", "agent",
))  # fmt: skip
_START = re.compile(r"\s*\{'\w+': ?(?:\{|$|['\"\w])")
_GOES_ON = re.compile(r"\s+\S|\s*[)\]}'\"]")
_OVERRIDE = re.compile(r"[+~]{0,2}(?P<key>[A-Za-z_]\w*(?:[./@]\w+)*)=(?P<value>.*)", re.DOTALL)
MAX_LINES = 20_000
MAX_CHARACTERS = 4_000_000
MAX_FOREIGN = 2_000  # lines of others before an open dict is given up
_MAX_OPEN = 8
_MAX_KEYS = 5_000


class _Collecting:
    """A dict whose brackets are not closed yet."""

    def __init__(self, body: str) -> None:
        self.texts = [body]
        self.depth = literals.balance(body)
        self.size = len(body)
        self.foreign = 0

    @property
    def full(self) -> bool:
        """Whether it grew beyond any config."""
        return len(self.texts) > MAX_LINES or self.size > MAX_CHARACTERS or self.foreign > MAX_FOREIGN

    def add(self, body: str) -> None:
        """Take one more line."""
        self.texts.append(body)
        self.depth += literals.balance(body)
        self.size += len(body)


class Configs:
    """Collects printed configs; `found` holds the newest value of each key."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._open: dict[str, _Collecting] = {}

    @property
    def pending(self) -> bool:
        """Whether a dict is open, so that every line matters."""
        return bool(self._open)

    def take(self, line: Line) -> bool:
        """Whether `line` was part of a printed config."""
        here = self._open.get(line.speaker)
        if here is None:
            return _START.match(line.body) is not None and self._begin(line)
        goes_on = _GOES_ON.match(line.body) and not line.body.lstrip().startswith("- ")
        if goes_on:
            here.add(line.body)
        else:
            here.foreign += 1
        if here.depth <= 0 or here.full:
            self._end(line.speaker)
        return bool(goes_on)

    def finish(self) -> None:
        """Read what is still open as far as it goes: the log ends here."""
        for speaker in list(self._open):
            self._end(speaker)

    def _begin(self, line: Line) -> bool:
        first = re.match(r"\s*\{'(\w+)'", line.body)
        if first is None or (first[1] not in _SECTIONS and not first[1].startswith("_")):
            return False
        if len(self._open) >= _MAX_OPEN:
            return False
        self._open[line.speaker] = here = _Collecting(line.body)
        if here.depth <= 0:
            self._end(line.speaker)
        return True

    def _end(self, speaker: str) -> None:
        here = self._open.pop(speaker)
        tree = literals.parse("\n".join(here.texts))
        if not isinstance(tree, dict) or not _is_config(tree):
            return
        for key, text in literals.flatten(tree):
            if len(self.found) < _MAX_KEYS or key in self.found:
                self.found[key] = text


def _is_config(tree: dict[str, literals.Literal]) -> bool:
    return any(isinstance(value, dict) for key, value in tree.items() if key in _SECTIONS)


def overrides(command: str) -> dict[str, str]:
    """`key=value` arguments of a command line, Hydra's `+`, `++` and `~` stripped.

    A quoted argument may hold several of them. Environment variables before the program are left out.
    """
    found: dict[str, str] = {}
    for word in _words(command):
        inner = (
            word.split()
            if word.count("=") > 1 and " " in word and "[" not in word.split("=", 1)[0]
            else [word]
        )
        for text in inner if all("=" in part for part in inner) else [word]:
            match = _OVERRIDE.fullmatch(text)
            if match and ("." in match["key"] or match["key"] in _SECTIONS):
                found[match["key"]] = match["value"].strip("'\"")
    return found


def listed(text: str) -> dict[str, str]:
    """Overrides in the list that Hydra prints with an error: `['a.b=1', 'c.d=2']`."""
    items = literals.parse(text)
    return typed(items) if isinstance(items, list) else {}


def typed(items: Iterable[object]) -> dict[str, str]:
    """Settings of overrides that were given one by one; what is no `key=value` is passed over."""
    found = {}
    for item in items:
        match = _OVERRIDE.fullmatch(item) if isinstance(item, str) else None
        if match:
            found[match["key"]] = match["value"]
    return found


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=False)
    except ValueError:  # a quote is not closed: the line was cut
        return command.split()
