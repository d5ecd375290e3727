"""The scorecard of the rules in words: shares as percentages, what was not measured as a dash."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sitegen.language import t
from sitegen.pages import words
from sitegen.pages.simulated import Drawn, anchor, drawings
from sitegen.reports.shapes import Figures, Measured, RuleScore, Scorecard

MAKE = "python -m tests.detection --show"
_ALARMED = 3  # decimals of false alarms per run


@dataclass(frozen=True, slots=True)
class KindRow:
    """Runs of one kind of incident at one strength, as text; a missed run is named for `MAKE`."""

    kind: str
    strength: str
    share: str  # "4 of 6"; "" where only misses are known
    found: tuple[tuple[str, str], ...]  # seeds or spans of them, each with the anchor of its drawing or ""
    missed: tuple[tuple[str, str], ...]  # names, likewise


@dataclass(frozen=True, slots=True)
class Box:
    """A figure with its name and what it is made of."""

    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class Measures:
    """The scorecard of one rule, ready for a template."""

    boxes: tuple[Box, ...]
    rows: tuple[KindRow, ...]
    complete: bool
    alarmed: tuple[str, ...]
    exercised: bool
    found: int
    missed: int
    quiet: str  # what is known of a rule that no incident exercises
    drawn: tuple[Drawn, ...]

    def anchor(self, name: str) -> str:
        """Where the run of this name is drawn; "" where it is not."""
        return next((one.anchor for one in self.drawn if one.name == name), "")


def measures(score: RuleScore | None) -> Measures | None:
    """What a rule's page shows; None for a rule that is in no scorecard."""
    if score is None:
        return None
    return Measures(
        boxes=_boxes(score),
        rows=tuple(_kind(one, score.sketches) for one in score.runs),
        complete=score.complete,
        alarmed=score.alarmed,
        exercised=score.injected > 0,
        found=score.found,
        missed=score.injected - score.found,
        quiet=_quiet(score),
        drawn=drawings(score),
    )


def _boxes(score: RuleScore) -> tuple[Box, ...]:
    strengths = t(", ").join(f"{t(name)} {found}/{injected}" for name, found, injected in score.by_strength)
    of = t("{n} of {all}", n=words.count(score.found), all=words.count(score.injected))
    said = [t("{n} right", n=words.count(score.found))]
    said += [t("{n} on healthy runs", n=words.count(score.alarms))] if score.alarms else []
    beside = t("{n} beside another incident", n=words.count(score.unexplained or 0))
    said += [beside] if score.unexplained else []
    p90 = "" if score.onset_p90 is None else percent(score.onset_p90 / 100)
    late = t("of the run; 90th percentile {share}", share=p90) if p90 else ""
    median = None if score.onset_median is None else score.onset_median / 100
    alarms, healthy = words.count(score.alarms), words.count(score.healthy)
    ran = "" if score.healthy is None else t("{n} on {runs} runs", n=alarms, runs=healthy)
    return (
        Box(t("Recall"), percent(score.recall), t("; ").join(one for one in (of, strengths) if one)),
        Box(t("Precision"), percent(score.precision), t(", ").join(said)),
        Box(t("Onset error, median"), percent(median), late),
        Box(t("False alarms per healthy run"), rate(score.alarms_per_run), ran),
    )


def _kind(one: Measured, drawn: Collection[str]) -> KindRow:
    total = len(one.found) + len(one.missed)
    share = t("{n} of {all}", n=len(one.found), all=total) if one.found or total > len(one.missed) else ""
    linked = [seed for seed in one.found if one.name(seed) in drawn]
    found = [(str(seed), anchor(one.name(seed))) for seed in sorted(linked)]
    others = _seeds([seed for seed in one.found if seed not in linked])
    names = [one.name(seed) for seed in one.missed]
    missed = tuple((name, anchor(name) if name in drawn else "") for name in names)
    return KindRow(one.kind, one.strength, share, (*found, *([(others, "")] if others else [])), missed)


def _quiet(score: RuleScore) -> str:
    if score.healthy is None or score.alarms is None:
        return ""
    if not score.healthy:
        return t("It speaks only where a site or a run asks for its preset, which no simulated run does.")
    alarms = words.plural(score.alarms, "false alarm") if score.alarms else t("no false alarm")
    runs = words.plural(score.healthy, "healthy simulated run")
    return t("It raised {alarms} on {runs}.", alarms=alarms, runs=runs)


def _seeds(seeds: Sequence[int]) -> str:
    """`1000–1002, 1004`: neighbours as a span."""
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and seed == spans[-1][1] + 1:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    return ", ".join(str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}" for a, b in spans)


def measured_on(card: Scorecard) -> str:
    """`714 simulated runs (621 with one of 69 kinds of incident, 93 healthy), seeds 1000 to 1002 (test)`."""
    total = (card.incident_runs or 0) + (card.healthy_runs or 0)
    parts = []
    if card.incident_runs is not None and card.kinds is not None:
        n, kinds = words.count(card.incident_runs), words.plural(card.kinds, "kind")
        parts.append(t("{n} with one of {kinds} of incident", n=n, kinds=kinds))
    if card.healthy_runs is not None:
        parts.append(t("{n} healthy", n=words.count(card.healthy_runs)))
    name, first, last = card.seeds
    told = words.plural(total, "simulated run")
    told = t("{runs} ({parts})", runs=told, parts=t(", ").join(parts)) if parts else told
    if first is None or last is None:
        return told
    told = t("{runs}, seeds {first} to {last}", runs=told, first=first, last=last)
    return (
        t("{runs} of set “{name}”, on which no rule was tuned", runs=told, name=name)
        if name == "test"
        else told
    )


def summary(figures: Figures) -> str:
    """The figures that a catalog is judged by, in one line."""
    parts = (
        (figures.hard, t("hard faults found {share}", share=percent(figures.hard))),
        (figures.soft, t("soft ones at medium strength {share}", share=percent(figures.soft))),
        (figures.precision, t("precision {share}", share=percent(figures.precision))),
        (
            figures.onset_median,
            t("onset off by {share} of the run (median)", share=percent((figures.onset_median or 0) / 100)),
        ),
        (figures.alarms, t("{n} false alarms per healthy run", n=rate(figures.alarms))),
    )
    return t(", ").join(text for value, text in parts if value is not None)


@dataclass(frozen=True, slots=True)
class FiguresRow:
    """The figures of one kind of log, as text."""

    name: str
    cells: tuple[str, ...]


def figures(card: Scorecard) -> tuple[FiguresRow, ...]:
    """A row for logs as they are and one for each way of making them worse."""
    named: Iterable[tuple[str, Figures]] = (("as logged", card.overall), *card.degraded)
    return tuple(FiguresRow(_worse(name), _cells(one)) for name, one in named)


_WORSE = {
    "every-tenth": "every 10th step logged",
    "three-decimals": "3 decimals",
    "holes": "30 % of the rows lost",
    "few-metrics": "metrics missing",
    "early": "cut off at 20 % after the onset",
}


def _worse(name: str) -> str:
    return t(_WORSE.get(name, name.replace("-", " ")))


def _cells(one: Figures) -> tuple[str, ...]:
    median = None if one.onset_median is None else one.onset_median / 100
    shares = (one.hard, one.soft, one.precision, median)
    return (*map(percent, shares), rate(one.alarms))


def percent(share: float | None) -> str:
    """`96 %`, `0.7 %`; a dash where nothing was measured. What is not all is never rounded up to 100 %."""
    if share is None:
        return words.MISSING
    value = 100 * share
    text = f"{value:.0f}" if value >= 10 or value == 0 else f"{value:.1f}"
    return f"{'> 99' if text == '100' and share < 1 else text}{words.THIN}%"


def rate(value: float | None) -> str:
    """False alarms per run: `0`, `0.022`."""
    if value is None:
        return words.MISSING
    return "0" if value == 0 else f"{value:.{_ALARMED}f}".rstrip("0") or "0"
