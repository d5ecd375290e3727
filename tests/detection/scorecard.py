"""The scorecard that each rule's page shows, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from sitegen import __version__, rules
from sitegen.rules import Definition
from tests.detection import scoring
from tests.detection.scoring import Score, Scored

#: Names of missed and of stray runs that a rule lists at most.
LISTED = 12
#: Seeds of a kind and strength that are drawn at most, misses first: the file stays below 200 KB.
DRAWN = 3


def scorecard(
    seeds: str,
    used: range,
    plain: Sequence[Scored],
    degraded: Mapping[str, Sequence[Scored]],
    catalog: Sequence[Definition],
) -> dict[str, object]:
    """What was measured, on what, and for each rule every run in which it found or missed an incident.

    Onset errors are % of the run; false alarms count findings of warning or more. A run's name makes it
    again: `python -m tests.detection --show NAME`.
    """
    kinds = {label.kind for one in plain for label in one.labels}
    by_rule = scoring.by_rule(plain, catalog)
    return {
        "sitegen": __version__,
        "engine": rules.engine_version,
        "seeds": {"set": seeds, "first": used.start, "last": used.stop - 1},
        "runs": {
            "incident": sum(not one.healthy for one in plain),
            "healthy": sum(one.healthy for one in plain),
        },
        "kinds": len(kinds),
        "all": _figures(plain, catalog),
        "degraded": {variant: _figures(found, catalog) for variant, found in degraded.items()},
        "rules": {code: _rule(score, plain, catalog) for code, score in sorted(by_rule.items())},
    }


def _figures(scored: Sequence[Scored], catalog: Sequence[Definition]) -> dict[str, object]:
    total, hard, soft = (scoring.overall(scored, catalog, which) for which in (None, True, False))
    medium = soft.by_strength.get("medium", (0, 0))
    return {
        "injected": total.injected,
        "found": total.found,
        "recall": _short(total.recall),
        "recall_hard": _short(hard.recall),
        "recall_soft_medium": _short(medium[1] / medium[0] if medium[0] else None),
        "precision": _short(total.precision),
        "false_alarms_per_healthy_run": _short(total.alarms_per_run),
        "onset_median": _short(total.onset(50)),
        "onset_p90": _short(total.onset(90)),
    }


def _rule(score: Score, scored: Sequence[Scored], catalog: Sequence[Definition]) -> dict[str, object]:
    missed = [
        one.name
        for one in scored
        for label in one.matched.missed
        if scoring.expected(label, catalog) == score.name
    ]
    stray = [one.name for one in scored for finding in one.matched.stray if finding.rule == score.name]
    return {
        "injected": score.injected,
        "found": score.found,
        "missed": score.missed,
        "false_alarms": score.alarms,
        "unexplained": score.stray,
        "healthy": 0 if _asked_for(score.name, catalog) else score.healthy,
        "precision": _short(score.precision),
        "onset_median": _short(score.onset(50)),
        "onset_p90": _short(score.onset(90)),
        "by_strength": {name: list(counts) for name, counts in score.by_strength.items()},
        "runs": _runs(score.name, scored, catalog),
        "misses": missed[:LISTED],
        "alarms": sorted(set(stray))[:LISTED],
        "sketches": _sketches(score.name, scored),
    }


def _sketches(code: str, scored: Sequence[Scored]) -> dict[str, object]:
    """Name of a run -> its sketch, of the first runs of each kind and strength."""
    drawn: dict[str, object] = {}
    counts: Counter[str] = Counter()
    told = [(one.name, told) for one in scored for rule, told in one.sketches if rule == code]
    for name, each in sorted(told, key=lambda one: one[1][-1] is not None):
        of = name.rpartition("-")[0]
        if counts[of] < DRAWN and name not in drawn:
            drawn[name] = each
            counts[of] += 1
    return dict(sorted(drawn.items()))


def _asked_for(code: str, catalog: Sequence[Definition]) -> bool:
    """Whether the rule speaks only where its preset is asked for, which no simulated run does."""
    return any(rule.code == code and rule.presets for rule in catalog)


def _runs(
    code: str, scored: Sequence[Scored], catalog: Sequence[Definition]
) -> dict[str, dict[str, dict[str, list[int]]]]:
    """Kind -> strength -> seeds found and missed, of the incidents that rule `code` is meant to see."""
    runs: dict[str, dict[str, dict[str, list[int]]]] = {}
    for one in scored:
        seed = int(one.name.rpartition("-")[2])
        missed = one.matched.missed
        for label in one.labels:
            if scoring.expected(label, catalog) == code:
                seeds = runs.setdefault(label.kind, {}).setdefault(
                    label.strength, {"found": [], "missed": []}
                )
                seeds["missed" if label in missed else "found"].append(seed)
    return runs


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def text(card: Mapping[str, object]) -> str:
    """The file: one line a rule, so that changes show."""
    head = [
        f"  {json.dumps(key)}: {json.dumps(value)},"
        for key, value in card.items()
        if key not in ("rules", "degraded")
    ]
    parts = []
    for key in ("degraded", "rules"):
        entries = card[key]
        assert isinstance(entries, Mapping)
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(one)}" for name, one in entries.items())
        parts.append(f"  {json.dumps(key)}: {{\n{lines}\n  }}" if lines else f"  {json.dumps(key)}: {{}}")
    return "{\n" + "\n".join(head) + "\n" + ",\n".join(parts) + "\n}\n"
