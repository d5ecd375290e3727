"""Scores as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.detection.incidents import STRENGTHS
from tests.detection.scoring import Score, Scored, alarms

HEADS = (
    "",
    "injected",
    "found",
    "recall",
    "low",
    "medium",
    "high",
    "precision",
    "onset median",
    "p90",
    "stray",
    "alarms",
)


def table(scores: Iterable[Score]) -> str:
    """A line per score; recall by strength, onset errors in % of the run."""
    lines = [_cells(one) for one in scores]
    widths = [max(len(line[at]) for line in [HEADS, *lines]) for at in range(len(HEADS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in [HEADS, *lines]
    )


def _cells(one: Score) -> tuple[str, ...]:
    return (
        one.name,
        str(one.injected),
        str(one.found),
        _percent(one.recall),
        *(_fraction(one.by_strength.get(strength)) for strength in STRENGTHS),
        _percent(one.precision),
        _number(one.onset(50)),
        _number(one.onset(90)),
        str(one.stray),
        str(one.alarms),
    )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def _fraction(counts: tuple[int, int] | None) -> str:
    return "-" if counts is None else f"{counts[1]}/{counts[0]}"


def summary(total: Score, hard: Score, soft: Score) -> str:
    """The figures that a release is judged by."""
    medium = soft.by_strength.get("medium", (0, 0))
    share = medium[1] / medium[0] if medium[0] else None
    alarm = "-" if total.alarms_per_run is None else f"{total.alarms_per_run:.3f}"
    return (
        f"hard faults {_percent(hard.recall)} of {hard.injected}, "
        f"soft at medium strength {_percent(share)} of {medium[0]}, "
        f"precision {_percent(total.precision)}, onset median {_number(total.onset(50))}, "
        f"{alarm} false alarms per healthy run ({total.healthy} runs)"
    )


def misses(scored: Sequence[Scored], codes: frozenset[str]) -> str:
    """Every label that one of `codes` should have found, and every finding that nothing explains."""
    lines = [
        f"missed  {one.name}: {label.codes[0]} from step {label.first}; said: {_said(one)}"
        for one in scored
        for label in one.matched.missed
        if codes & set(label.codes)
    ]
    lines += [
        f"stray   {name}: {one.rule} {one.severity.word} at {one.first}-{one.last}: {one.message}"
        for name, one in alarms(scored)
    ]
    return "\n".join(lines)


def _said(one: Scored) -> str:
    said = [f"{each.rule} {each.severity.word} {each.first}-{each.last}" for each in one.findings.incidents]
    return ", ".join(each for each in said if not each.startswith("META")) or "nothing"
