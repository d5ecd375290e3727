"""Rules: cards over runs -> phases, incidents and verdicts.

catalog(folders)    the cards that come with sitegen, and those of a site
evaluate(…)         findings of runs
test(catalog)       the cases of the cards
cases(rule)         the same cases, written out for drawing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from sitegen.model import Findings
from sitegen.rules import engine, loading
from sitegen.rules.cases import CaseResult, Sketch, cases, test
from sitegen.rules.definition import Definition
from sitegen.rules.engine import engine_version
from sitegen.store import Shelf, Store, portions

__all__ = ["CaseResult", "Definition", "Sketch", "cases", "catalog", "engine_version", "evaluate", "test"]


def catalog(folders: Sequence[Path] = ()) -> tuple[Definition, ...]:
    """Rules by code: the cards that come with sitegen and those in `folders`.

    Raises CardError with every fault of every card.
    """
    with as_file(files("sitegen.rules") / "catalog") as bundled:
        return loading.catalog([bundled, *folders])


def evaluate(
    archive: Shelf,
    runs: Sequence[str],
    catalog: Sequence[Definition],
    overrides: Mapping[str, Mapping[str, object]] | None = None,
    presets: Sequence[str] = (),
) -> dict[str, Findings]:
    """Findings of `runs`, in their order.

    Args:
        archive: where the runs lie.
        runs: ids.
        catalog: rules, from `catalog`.
        overrides: rule code -> params that a site sets differently.
        presets: sets of absolute bands for runs whose run.toml chooses none.

    Raises:
        ConfigError: an override names no rule or param, or no card knows a preset.
        CardError: a card failed; it names the card, its line and DuckDB's message.
    """
    changed = overrides or {}
    engine.check_overrides(catalog, changed)
    engine.check_presets(catalog, presets)
    found: dict[str, Findings] = {}
    for batch in portions(archive, runs):
        with Store(archive, batch) as store:
            found |= engine.evaluate_store(store, catalog, changed, presets)
    return found
