"""Which rows carried a metric whose value was NaN or infinite: that is not the same as no value."""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.store import Store

# Of the very row that the value was logged in: events of a step without a row are placed at the row before.
_PLACES = (
    "SELECT DISTINCT e.run, e.metric, e.row FROM events e "
    "JOIN steps s ON s.run = e.run AND s.row = e.row AND s.step = e.step AND s.segment = e.segment "
    "WHERE e.kind = 'non_finite' AND e.metric IS NOT NULL"
)


class NonFinite:
    """Places of values that are not finite in the runs of a store; asks it when first needed, once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: Mapping[tuple[str, str], frozenset[int]] | None = None

    def among(self, run: str, metric: str, rows: range) -> bool:
        """Whether one of `rows` (counted from 1) of `run` logged NaN or an infinity as `metric`."""
        if self._rows is None:
            self._rows = self._places()
        return not self._rows.get((run, metric), frozenset()).isdisjoint(rows)

    def _places(self) -> Mapping[tuple[str, str], frozenset[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        columns = self._store.table(_PLACES).to_pydict()
        for run, metric, row in zip(columns["run"], columns["metric"], columns["row"], strict=True):
            found.setdefault((run, metric), []).append(row)
        return {place: frozenset(rows) for place, rows in found.items()}
