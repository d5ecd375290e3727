"""Presets: absolute bands that hold for one kind of run only, and that a site or a run asks for by name.

A card with presets says nothing about a run that asked for none of them: it has no verdict there, not even
"could not be checked". Of the phase cards one speaks: that of a preset where the run asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from sitegen.language import t
from sitegen.model import Run
from sitegen.rules.definition import Definition
from sitegen.store import presets_table


class Asked:
    """Which cards speak about which runs.

    Args:
        runs: runs of a batch.
        catalog: all cards.
        presets: what the site asks for; a run whose `run.toml` names presets has those instead.
    """

    def __init__(self, runs: Sequence[Run], catalog: Iterable[Definition], presets: Sequence[str]) -> None:
        self.runs = runs
        self.chosen: Mapping[str, tuple[str, ...]] = {
            run.id: tuple(presets) if run.presets is None else run.presets for run in runs
        }
        self._phases = frozenset(name for rule in catalog if rule.kind == "phase" for name in rule.presets)

    def of(self, rule: Definition) -> tuple[Run, ...]:
        """Runs that `rule` speaks about, in their order."""
        return tuple(run for run in self.runs if self._speaks(rule, self.chosen[run.id]))

    def table(self) -> pa.Table:
        """Relation `presets`."""
        return presets_table(
            (run, name) for run, names in self.chosen.items() for name in dict.fromkeys(names)
        )

    def _speaks(self, rule: Definition, chosen: Sequence[str]) -> bool:
        if rule.presets:
            return not set(rule.presets).isdisjoint(chosen)
        return rule.kind != "phase" or self._phases.isdisjoint(chosen)


def marked(told: str, rule: Definition, preset: object) -> str:
    """The sentence of an incident, marked where a preset and not the run's own past is the measure.

    `preset` is column `asked` of the answer, for cards of several presets.
    """
    if not rule.presets:
        return told
    return t("Outside preset {preset}: {told}", preset=preset or " / ".join(rule.presets), told=told)
