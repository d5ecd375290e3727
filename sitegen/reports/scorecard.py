"""How well the rules were found to detect: the scorecard that `make detection` writes, as pages show it.

What the file lacks is unknown, never zero; a file that cannot be read is no scorecard.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sitegen.reports.shapes import Figures, Measured, RuleScore, RunSketch, Scorecard

#: Heights in the line of a sketch, the lowest first.
DIGITS = string.digits + string.ascii_letters + "+-"
STRENGTHS = ("low", "medium", "high")
_RUN = re.compile(r"(.+)-(low|medium|high)-(\d+)")


@cache
def bundled() -> Scorecard | None:
    """The scorecard of the cards that come with sitegen; None where it was not measured."""
    file = files("sitegen.rules") / "scorecard.json"
    return read(file.read_text(encoding="utf-8")) if file.is_file() else None


def read(text: str) -> Scorecard | None:
    """The scorecard in the JSON of `tests.detection`, whatever parts of it are there."""
    try:
        card = json.loads(text)
    except ValueError:
        return None
    if not isinstance(card, dict):
        return None
    seeds, runs = _table(card, "seeds"), _table(card, "runs")
    return Scorecard(
        seeds=(str(seeds.get("set", "")), _count(seeds, "first"), _count(seeds, "last")),
        version=str(card.get("sitegen", "")),
        incident_runs=_count(runs, "incident"),
        healthy_runs=_count(runs, "healthy"),
        kinds=_count(card, "kinds"),
        overall=_figures(_table(card, "all")),
        degraded=tuple((name, _figures(one)) for name, one in _tables(card, "degraded")),
        rules={code: _rule(one) for code, one in _tables(card, "rules")},
    )


def _rule(one: Mapping[str, Any]) -> RuleScore:
    strengths = _table(one, "by_strength")
    measured = tuple(_measured(one))
    return RuleScore(
        injected=_count(one, "injected") or 0,
        found=_count(one, "found") or 0,
        alarms=_count(one, "false_alarms"),
        unexplained=_count(one, "unexplained"),
        healthy=_count(one, "healthy"),
        precision=_share(one, "precision"),
        onset_median=_share(one, "onset_median"),
        onset_p90=_share(one, "onset_p90"),
        by_strength=tuple(
            (name, strengths[name][1], strengths[name][0]) for name in STRENGTHS if _is_pair(strengths, name)
        ),
        runs=measured,
        complete="runs" in one,
        alarmed=_names(one, "alarms"),
        sketches={name: drawn for name, told in _table(one, "sketches").items() if (drawn := _sketch(told))},
    )


def _sketch(told: object) -> RunSketch | None:
    """A run as it was drawn: metric, range, first and last step, line, truth, finding."""
    if not isinstance(told, list) or len(told) != 6:
        return None
    metric, height, steps, line, truth, found = told
    span, limits = _pair(steps), _pair(height)
    if span is None or limits is None or not isinstance(line, str):
        return None
    top = len(DIGITS) - 1
    values = tuple(DIGITS.index(sign) / top if sign in DIGITS else None for sign in line)
    low, high = map(float, limits)
    return RunSketch(str(metric), low, high, _whole(span), values, _span(truth), _span(found))


def _pair(told: object) -> tuple[float, float] | None:
    numbers = isinstance(told, list) and len(told) == 2 and all(isinstance(one, int | float) for one in told)
    return (told[0], told[1]) if numbers and isinstance(told, list) else None


def _span(told: object) -> tuple[int, int] | None:
    pair = _pair(told)
    return _whole(pair) if pair else None


def _whole(pair: tuple[float, float]) -> tuple[int, int]:
    return int(pair[0]), int(pair[1])


def _measured(one: Mapping[str, Any]) -> Iterator[Measured]:
    """Runs by kind and strength: all of them where the file lists them, else the misses it names."""
    for kind, strengths in _tables(one, "runs"):
        for strength, seeds in _tables(strengths, ""):
            yield Measured(kind, strength, _seeds(seeds, "found"), _seeds(seeds, "missed"))
    if "runs" in one:
        return
    missed: dict[tuple[str, str], list[int]] = {}
    for name in _names(one, "misses"):
        if told := _RUN.fullmatch(name):
            missed.setdefault((told[1], told[2]), []).append(int(told[3]))
    for (kind, strength), lost in sorted(missed.items()):
        yield Measured(kind, strength, (), tuple(lost))


def _figures(one: Mapping[str, Any]) -> Figures:
    return Figures(
        injected=_count(one, "injected"),
        found=_count(one, "found"),
        hard=_share(one, "recall_hard"),
        soft=_share(one, "recall_soft_medium"),
        precision=_share(one, "precision"),
        alarms=_share(one, "false_alarms_per_healthy_run"),
        onset_median=_share(one, "onset_median"),
        onset_p90=_share(one, "onset_p90"),
    )


def _table(of: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _tables(of: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Tables below `key`, or of the table itself where `key` is empty, in the order of the file."""
    for name, found in (_table(of, key) if key else of).items():
        if isinstance(found, dict):
            yield name, found


def _count(of: Mapping[str, Any], key: str) -> int | None:
    found = of.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _share(of: Mapping[str, Any], key: str) -> float | None:
    found = of.get(key)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _is_pair(of: Mapping[str, Any], key: str) -> bool:
    found = of.get(key)
    return isinstance(found, list) and len(found) == 2 and all(isinstance(one, int) for one in found)


def _names(of: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = of.get(key)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _seeds(of: Mapping[str, Any], key: str) -> tuple[int, ...]:
    found = of.get(key)
    return tuple(one for one in found if isinstance(one, int)) if isinstance(found, list) else ()
