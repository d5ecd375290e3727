"""Rules: cards over runs -> phases, incidents and verdicts.

catalog(folders)    the cards that come with sitegen, and those of a site
evaluate(…)         findings of runs
test(catalog)       the cases of the cards
cases(rule)         the same cases, written out for drawing
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from sitegen.errors import SitegenError
from sitegen.model import Findings, Outcome, Verdict
from sitegen.rules import engine, loading
from sitegen.rules.cases import CaseResult, Sketch, cases, test
from sitegen.rules.choices import check, faults
from sitegen.rules.definition import Definition
from sitegen.rules.engine import engine_version
from sitegen.rules.loading import CODE
from sitegen.rules.skeleton import next_free, open_lines, skeleton
from sitegen.store import Shelf, Store, portions

__all__ = [
    "CODE",
    "CaseResult",
    "Definition",
    "Sketch",
    "cases",
    "catalog",
    "check",
    "engine_version",
    "evaluate",
    "failure",
    "faults",
    "next_free",
    "open_lines",
    "skeleton",
    "test",
]

_FAILED = "the rules failed on this run, a bug in sitegen: "


def catalog(folders: Sequence[Path] = ()) -> tuple[Definition, ...]:
    """Rules by code: the cards that come with sitegen and those in `folders`.

    Raises CardError with every fault of every card.
    """
    with as_file(files("sitegen.rules") / "catalog") as bundled:
        each = {
            folder.resolve(): folder for folder in (*reversed(folders), bundled)
        }  # one may be named twice
        return loading.catalog(list(reversed(each.values())))


def evaluate(
    archive: Shelf,
    runs: Sequence[str],
    catalog: Sequence[Definition],
    overrides: Mapping[str, Mapping[str, object]] | None = None,
    presets: Sequence[str] = (),
    threads: int = 2,
) -> dict[str, Findings]:
    """Findings of `runs`, in their order.

    Args:
        archive: where the runs lie.
        runs: ids.
        catalog: rules, from `catalog`.
        overrides: rule code -> params that a site sets differently.
        presets: sets of absolute bands for runs whose run.toml chooses none.
        threads: cores to use.

    Raises:
        ConfigError: an override names no rule or param, or no card knows a preset.
        CardError: a card failed; it names the card, its line and DuckDB's message.
    """
    changed = overrides or {}
    check(catalog, changed, presets)
    found: dict[str, Findings] = {}

    def judge(store: Store) -> dict[str, Findings]:
        return engine.evaluate_store(store, catalog, changed, presets)

    for batch in portions(archive, runs):
        found |= _judged(judge, archive, batch, catalog, threads)
    return found


def failure(findings: Findings) -> str:
    """The exception that kept the rules from a run, by name; "" where they were applied."""
    reason = findings.verdicts[0].reason if findings.verdicts else ""
    return reason.removeprefix(_FAILED) if reason.startswith(_FAILED) else ""


def _judged(
    judge: Callable[[Store], dict[str, Findings]],
    archive: Shelf,
    batch: Sequence[str],
    catalog: Sequence[Definition],
    threads: int,
) -> dict[str, Findings]:
    """Findings of a batch; a bug of ours that one of its runs brings to light spares the others."""
    try:
        with Store(archive, batch, threads=threads) as store:
            return judge(store)
    except Exception as error:
        if isinstance(error, SitegenError) or os.environ.get("SITEGEN_DEBUG") == "1":
            raise
        if len(batch) == 1:
            return {run: _unjudged(run, catalog, type(error).__name__) for run in batch}
    found: dict[str, Findings] = {}
    for run in batch:
        found |= _judged(judge, archive, [run], catalog, threads)
    return found


def _unjudged(run: str, catalog: Sequence[Definition], name: str) -> Findings:
    codes = sorted(rule.code for rule in catalog)
    verdicts = (Verdict(code, Outcome.NOT_APPLICABLE, (), f"{_FAILED}{name}") for code in codes)
    return Findings(run, (), (), tuple(verdicts))
