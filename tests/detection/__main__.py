"""`python -m tests.detection`: simulate, detect, print the tables, write the scorecard."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sitegen import rules
from sitegen.rules import Definition
from tests.detection import scorecard, scoring, tables, targets
from tests.detection.degrade import SIZES, VARIANTS, degrade
from tests.detection.incidents import KINDS, STRENGTHS
from tests.detection.scoring import Scored
from tests.detection.simulate import SEEDS, by_name, population
from tests.detection.trace import Trace
from tests.detection.traps import TRAPS


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def main(words: Sequence[str] | None = None) -> int:
    """Print how well the rules detect; 1 where a target is missed on whole populations."""
    asked = _parser().parse_args(words)
    catalog = rules.catalog()
    if asked.show:
        return _show(asked.show, catalog)
    used = range(SEEDS[asked.seeds].start, SEEDS[asked.seeds].start + asked.runs)
    kinds, traps = _chosen(asked.only)
    began = time.monotonic()
    plain = scoring.score(population(used, STRENGTHS, None, kinds, traps), catalog)
    degraded = {} if asked.fast else {name: _degraded(name, used, kinds, traps, catalog) for name in VARIANTS}
    short = _print(plain, degraded, catalog, asked.list)
    say(f"\n{asked.seeds} seeds {used.start}-{used.stop - 1}, {time.monotonic() - began:.0f} s")
    if asked.json:
        card = scorecard.scorecard(asked.seeds, used, plain, degraded, catalog)
        asked.json.write_text(scorecard.text(card), encoding="utf-8")
    return 1 if short and not asked.only else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.detection", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="seeds of every kind, strength and trap")
    parser.add_argument(
        "--seeds", choices=sorted(SEEDS), default="test", help="dev to tune on, test to report"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the scorecard")
    parser.add_argument("--fast", action="store_true", help="leave out the degraded logs")
    parser.add_argument("--list", action="store_true", help="list every miss and every unexplained finding")
    parser.add_argument("--only", metavar="NAME", action="append", help="kinds or traps whose name begins so")
    parser.add_argument("--show", metavar="RUN", help="make one run again and print what the rules say")
    return parser


def _chosen(only: list[str] | None) -> tuple[list[str], list[str]]:
    begins = tuple(only or [""])
    return [name for name in KINDS if name.startswith(begins)], [
        name for name in TRAPS if name.startswith(begins)
    ]


def _degraded(
    variant: str,
    seeds: Sequence[int],
    kinds: Sequence[str],
    traps: Sequence[str],
    catalog: Sequence[Definition],
) -> list[Scored]:
    return scoring.score(_worse(variant, seeds, kinds, traps), catalog)


def _worse(variant: str, seeds: Sequence[int], kinds: Sequence[str], traps: Sequence[str]) -> Iterator[Trace]:
    for trace in population(seeds, ("medium",), SIZES.get(variant), kinds, traps):
        found = degrade(trace, variant)
        if found is not None:
            yield found


def _print(
    plain: Sequence[Scored], degraded: dict[str, list[Scored]], catalog: Sequence[Definition], listed: bool
) -> bool:
    """The tables; whether a target was missed."""
    scores = [
        one for one in scoring.by_rule(plain, catalog).values() if one.injected or one.alarms or one.stray
    ]
    say("By rule\n" + tables.table(sorted(scores, key=lambda one: one.name)))
    kinds = scoring.by_kind(plain)
    say("\nBy kind of incident\n" + tables.table(kinds.values()))
    say("\nNo card yet: " + (", ".join(name for name in kinds if not _carded(name, catalog)) or "none"))
    short = False
    for name, scored in {"as logged": plain, **degraded}.items():
        total, hard, soft = (scoring.overall(scored, catalog, which) for which in (None, True, False))
        say(f"\n{name}: {tables.summary(total, hard, soft)}")
        for line in targets.missed(total, hard, soft, degraded=name in degraded):
            short = True
            say(f"MISSED  {line}")
        if listed:
            say(tables.misses(scored, frozenset(rule.code for rule in catalog)))
    return short


def _carded(kind: str, catalog: Sequence[Definition]) -> bool:
    return any(rule.code in KINDS[kind].codes for rule in catalog)


def _show(name: str, catalog: Sequence[Definition]) -> int:
    (one,) = scoring.score([by_name(name)], catalog)
    for label in one.labels:
        say(f"{label.kind} ({label.strength}), steps {label.first}-{label.last}: {', '.join(label.codes)}")
    for finding in one.findings.incidents:
        say(f"{finding.rule} {finding.severity.word} {finding.first}-{finding.last}: {finding.message}")
    for verdict in one.findings.verdicts:
        if any(verdict.rule in label.codes for label in one.labels):
            say(f"{verdict.rule}: {verdict.outcome} {', '.join(verdict.missing)} {verdict.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
