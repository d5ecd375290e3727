"""`run.toml`: what a person says about a run. A fault in it is a problem, never the end of a build."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused
from sitegen.model import Mute
from sitegen.redact import redact

NAME = "run.toml"
MAX = 1 << 20
_TEXT = (
    "title", "project", "experiment", "owner", "hardware", "baseline", "notes",
    "algorithm", "model", "verl_version", "commit", "status",
)  # fmt: skip
_LISTS = ("tags", "aliases", "presets")
_NUMBERS = ("gpus", "planned_steps")
_FLAGS = ("finished",)
_STATUS = ("running",)  # what `status` may say; how a run ended is read, not told
_MUTE = "mute"  # a table: rule code = reason
NAME_MAX = 500  # characters of a name: every page across runs shows it
_UNBOUND = ("notes", "baseline", "aliases")  # shown once, or not at all
KEYS = (*_TEXT, *_LISTS, *_NUMBERS, *_FLAGS, _MUTE)


@dataclass(frozen=True, slots=True)
class RunToml:
    """Values of a run.toml that could be used, and what was wrong with the rest."""

    values: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    mutes: tuple[Mute, ...] = ()

    def text(self, key: str) -> str | None:
        """Text under `key`, None when absent or empty."""
        value = self.values.get(key)
        return value if isinstance(value, str) and value else None

    def texts(self, key: str) -> tuple[str, ...]:
        """List of texts under `key`, in the order written, each once."""
        value = self.values.get(key, ())
        assert isinstance(value, tuple)
        return tuple(dict.fromkeys(value))

    def asked(self, key: str) -> tuple[str, ...] | None:
        """List of texts under `key`; None when the file does not have it, which is not the same as empty."""
        return self.texts(key) if key in self.values else None

    def number(self, key: str) -> int | None:
        """Whole number under `key`."""
        value = self.values.get(key)
        return value if isinstance(value, int) else None

    @property
    def finished(self) -> bool | None:
        """What the file says about the end of training, None when it says nothing."""
        value = self.values.get("finished")
        return value if isinstance(value, bool) else None


def load(source: Source) -> RunToml:
    """Read a run.toml."""
    try:
        raw = source.head(MAX)
        table = tomllib.loads(raw.decode("utf-8"))
    except (OSError, SourceRefused) as error:
        return _failed(source.path, f"cannot be read: {error}", None)
    except UnicodeDecodeError as error:
        return _failed(source.path, f"is not UTF-8 (byte {error.start})", None)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        return _failed(source.path, f"is not TOML: {redact(str(error))[0]}", int(at[1]) if at else None)
    lines = raw.decode("utf-8").splitlines()
    values: dict[str, object] = {}
    problems: list[Problem] = []
    secrets: Counter[str] = Counter()
    mutes, faults = _mutes(source.path, table.pop(_MUTE, {}), lines)
    problems += faults
    for key, value in table.items():
        usable = _usable(key, value)
        if usable is None:
            problems.append(_fault(source.path, key, value, lines))
        else:
            values[key] = _cut(key, _clean(usable, secrets))
            problems += _told_cut(source.path, key, usable, lines)
    mutes = [replace(one, rule=_text(one.rule, secrets), reason=_text(one.reason, secrets)) for one in mutes]
    problems = [
        replace(one, message=_text(one.message, secrets), hint=redact(one.hint)[0]) for one in problems
    ]
    for kind, n in sorted(secrets.items()):
        told = f"{n} x {kind} replaced by [redacted:{kind}]"
        problems.append(Problem(source.path, None, "redacted", told, "Take it out of the file."))
    return RunToml(values, tuple(problems), tuple(mutes))


def _clean(value: object, secrets: Counter[str]) -> object:
    """A value without secrets: a text, or each text of a list."""
    if isinstance(value, tuple):
        return tuple(_text(each, secrets) for each in value)
    return _text(value, secrets) if isinstance(value, str) else value


def _cut(key: str, value: object) -> object:
    """Names at the length that pages show."""
    if key in _UNBOUND:
        return value
    if isinstance(value, tuple):
        return tuple(name_of(each) for each in value)
    return name_of(value) if isinstance(value, str) else value


def name_of(text: str) -> str:
    """`text` as a name: of at most `NAME_MAX` characters."""
    return text if len(text) <= NAME_MAX else text[: NAME_MAX - 1] + "…"


def _told_cut(path: str, key: str, value: object, lines: list[str]) -> list[Problem]:
    """What is told of names that are cut."""
    texts = value if isinstance(value, tuple) else (value,)
    longest = max((len(one) for one in texts if isinstance(one, str)), default=0)
    if key in _UNBOUND or longest <= NAME_MAX:
        return []
    told = f"{key} is {longest} characters long; cut to {NAME_MAX}"
    return [Problem(path, _line_of(key, lines), "run-toml", told, "Say it in the notes.")]


def _text(text: str, secrets: Counter[str]) -> str:
    short, found = redact(text)
    secrets += found
    return short


def _mutes(path: str, table: object, lines: list[str]) -> tuple[list[Mute], list[Problem]]:
    """Mutes with a reason, and what is wrong with the others; which codes exist is not known here."""
    hint = 'Write a table of codes and reasons: [mute], and below it "KL-05" = "raised on purpose".'
    if not isinstance(table, dict):
        line = _line_of(_MUTE, lines)
        told = f"mute must be a table, found {type(table).__name__}; left out"
        return [], [Problem(path, line, "run-toml", told, hint)]
    mutes, problems = [], []
    for code, reason in table.items():
        line = _line_of(code, lines)
        if isinstance(reason, str) and reason.strip():
            mutes.append(Mute(code, " ".join(reason.split()), line))
        else:
            told = f"mute: {code} has no reason, so its findings count as before"
            problems.append(Problem(path, line, "run-toml", told, hint))
    return mutes, problems


def _line_of(key: str, lines: list[str]) -> int | None:
    begins = re.compile(rf"[\s\"'\[]*{re.escape(key)}(?![\w-])")
    return next((n for n, text in enumerate(lines, 1) if begins.match(text)), None)


def _usable(key: str, value: object) -> object | None:
    """The value in the type that `key` wants, None when it does not fit."""
    if key == "status":
        return value if value in _STATUS else None
    if key in _TEXT and isinstance(value, str):
        return value.strip()
    if key in _LISTS and isinstance(value, str):
        return (value,)
    if key in _LISTS and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    if key in _NUMBERS and isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if key in _FLAGS and isinstance(value, bool):
        return value
    return None


def _fault(path: str, key: str, value: object, lines: list[str]) -> Problem:
    line = _line_of(key, lines)
    if key == "status":
        told = f"status must be {' or '.join(map(repr, _STATUS))}, found {value!r:.80}; left out"
        hint = "Leave the line out where nothing is written any more: how a run ended is read from its logs."
        return Problem(path, line, "run-toml", told, hint)
    if key in KEYS:
        wanted = (
            "text" if key in _TEXT
            else "a list of texts" if key in _LISTS
            else "a whole number above 0" if key in _NUMBERS
            else "true or false"
        )  # fmt: skip
        return Problem(
            path, line, "run-toml", f"{key} must be {wanted}, found {type(value).__name__}; left out"
        )
    near = difflib.get_close_matches(key, KEYS, 1, 0.5)
    hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(KEYS)}."
    return Problem(path, line, "run-toml", f"unknown key {key}; left out", hint)


def _failed(path: str, what: str, line: int | None) -> RunToml:
    hint = "The run is shown without it. Mend the file."
    return RunToml({}, (Problem(path, line, "run-toml", f"run.toml {what}", hint),))
