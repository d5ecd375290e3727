"""Cases as they are written in a card, and the short notation of their series.

0.9x60          60 times 0.9                 _x3      3 rows without the metric
0.1+0.01x50     50 values: 0.1, 0.11, …      nan inf -inf
0.5~0.02x60     60 values with noise of sd 0.02, the same in every run of the tests
(_x9 0.4)x5     the bracket five times       0.4      alone in a series: as long as the others
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sitegen.cards import Fault, Table, nearest
from sitegen.metrics import glossary
from sitegen.model import Floats, PhaseName
from sitegen.rules.definition import Definition
from sitegen.store import main_validations

NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
PIECE = re.compile(
    rf"(?P<base>-?{NUMBER}|_|nan|-?inf)(?P<slope>[+-]{NUMBER})?(?:~(?P<noise>{NUMBER}))?(?:x(?P<times>\d+))?"
)
MOST = 100_000

#: key -> what is expected
KEYS: Mapping[str, str] = {
    "name": "a sentence that says what the case shows",
    "series": 'a table of metric = "0.9x60 0.05x5"',
    "expect": '[] (silent), a list of [first, last] rows, "fires" or "not_applicable"',
    "tolerance": "rows by which borders may differ",
    "severity": "severity of the worst incident",
    "lines": "a list of { kind, step, level, text }",
    "config": "a table of settings",
    "facts": 'a table such as { commit = "…", verl_version = "0.9.1" }',
    "segments": "a list of [first, last] steps, one after the other",
    "planned": "steps planned in all",
    "stride": "distance of logged steps",
    "first_step": "step of the first row",
    "cut": "a list of rows whose record lost its end",
    "finished": "true or false",
    "algorithm": 'such as "PPO"',
    "experiment": "name of the experiment",
    "hardware": 'such as "8x H100 80GB"',
    "formats": 'a list such as ["filelogger"]',
    "times": "clock of each row in seconds, written as a series",
    "ended_at": "clock of the last line in seconds",
    "presets": "a list of presets the run asks for; by default those of the card",
    "problems": "a list of { kind, message }",
}
REQUIRED = ("name", "expect")
WORDS = ("fires", "not_applicable")


@dataclass(frozen=True, slots=True)
class Span:
    """Rows first to last, 1-based, inclusive; `phase` for phase rules."""

    first: int
    last: int
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.phase} {self.first}-{self.last}".strip()


class NotationError(ValueError):
    """A series is not written in the notation."""


def values(text: str, name: str = "") -> Floats:
    """Numbers of a series; NaN for gaps and for `nan`, told apart by `non_finite`. Raises NotationError."""
    return np.array([_number(word) for word in _words(text, name)], dtype=np.float64)


def non_finite(text: str, name: str = "") -> dict[int, str]:
    """0-based row -> "nan", "inf" or "-inf"."""
    return {row: word for row, word in enumerate(_words(text, name)) if word in ("nan", "inf", "-inf")}


def _number(word: str | float) -> float:
    return float("nan") if isinstance(word, str) else word


def _words(text: str, name: str) -> list[str | float]:
    """A number, or one of `_ nan inf -inf`, for each row."""
    flat = re.sub(r"\(([^()]*)\)x(\d+)", lambda found: " ".join([found[1]] * min(int(found[2]), MOST)), text)
    words: list[str | float] = []
    for place, piece in enumerate(flat.split()):
        words += _piece(piece, f"{name}/{place}")
        if len(words) > MOST:
            raise NotationError(f"more than {MOST} rows")
    return words


def _piece(piece: str, seed: str) -> list[str | float]:
    found = PIECE.fullmatch(piece)
    if found is None:
        raise NotationError(f'"{piece}" is not a piece of a series such as 0.9x60, 0.1+0.01x50, _x3 or nan')
    times = int(found["times"] or 1)
    if times > MOST:
        raise NotationError(f"more than {MOST} rows")
    if not re.fullmatch(rf"-?{NUMBER}", found["base"]):
        if found["slope"] or found["noise"]:
            raise NotationError(f'"{piece}": {found["base"]} has no slope or noise')
        return [found["base"]] * times
    ramp = float(found["base"]) + float(found["slope"] or 0) * np.arange(times)
    if found["noise"]:
        ramp = ramp + float(found["noise"]) * np.random.default_rng(zlib.crc32(seed.encode())).normal(
            size=times
        )
    return list(ramp.tolist())


def length(case: Table) -> int:
    """Rows of a case: those of its longest series, else of its segments."""
    lengths = [len(values(text)) for text in case.values.get("series", {}).values()]
    spans = case.values.get("segments", [])
    return max([*lengths, sum(last - first + 1 for first, last in spans)], default=0)


def expected(case: Table) -> tuple[Span, ...] | str:
    """Spans that must be found, or one of WORDS."""
    given = case.values["expect"]
    if isinstance(given, str):
        return given
    return tuple(Span(one[-2], one[-1], one[0] if len(one) == 3 else "") for one in given)


def faults(rule: Definition) -> Iterator[Fault]:
    """What is wrong with the cases of a rule."""
    good = True
    for case in rule.cases:
        for line, wrong in _case_faults(rule, case):
            good = False
            yield Fault(rule.path, line, wrong)
    if not good:
        return
    kinds = {_kind(case) for case in rule.cases}
    if "fires" not in kinds:
        yield Fault(rule.path, 1, "no case in which the rule fires")
    if "silent" not in kinds and rule.kind == "incident":
        yield Fault(rule.path, 1, "no case in which the rule stays silent (expect = [])")


def _kind(case: Table) -> str:
    found = expected(case)
    return "not_applicable" if found == "not_applicable" else "fires" if found else "silent"


def _case_faults(rule: Definition, case: Table) -> Iterator[tuple[int, str]]:
    for key in case.values:
        if key not in KEYS:
            yield case.line_of(key), f'case: unknown key "{key}"{nearest(key, KEYS)}'
    for key in REQUIRED:
        if key not in case.values:
            yield case.line, f'case: no "{key}": {KEYS[key]}'
    yield from _series_faults(case)
    if "expect" in case.values and not _expect_is_good(case.values["expect"], rule.kind == "phase"):
        yield case.line_of("expect"), f"case: expect must be {KEYS['expect']}"


def _series_faults(case: Table) -> Iterator[tuple[int, str]]:
    line = case.line_of("series")
    series = case.values.get("series", {})
    if not isinstance(series, dict):
        yield line, f"case: series must be {KEYS['series']}"
        return
    known = {metric.key for metric in glossary().metrics}
    lengths = set()
    for name, text in series.items():
        if name not in known and not main_validations([name]):
            yield line, f'case: unknown metric "{name}"{nearest(name, known)}'
        try:
            found = len(values(str(text)))
        except NotationError as error:
            yield line, f"case: series {name}: {error}"
            continue
        lengths |= {found} if found != 1 else set()
    if len(lengths) > 1:
        yield line, f"case: series differ in length: {', '.join(map(str, sorted(lengths)))} rows"


def _expect_is_good(given: Any, phases: bool) -> bool:
    if isinstance(given, str):
        return given in WORDS
    return isinstance(given, list) and all(_span_is_good(one, phases) for one in given)


def _span_is_good(one: Any, phases: bool) -> bool:
    if not isinstance(one, list) or len(one) != (3 if phases else 2):
        return False
    if phases and one[0] not in [name.value for name in PhaseName]:
        return False
    return all(isinstance(row, int) and row >= 0 for row in one[-2:]) and one[-2] <= one[-1]
