"""The glossary: names as logged -> metric, read once from `glossary.toml` beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from sitegen.language import spoken, titled
from sitegen.model import Metric

#: Groups in page order.
GROUPS = (
    "reward",
    "kl",
    "entropy",
    "policy",
    "critic",
    "length",
    "rollout",
    "speed",
    "memory",
    "validation",
    "other",
)


@dataclass(frozen=True, slots=True)
class Family:
    """Names that a data set, a layer or a part of the step completes, such as `val-core/<data set>/…`."""

    pattern: str  # glob over the name as logged, case counts
    title: str
    unit: str
    better: str
    group: str
    meaning: str

    def metric(self, raw: str) -> Metric:
        """An entry for one member; its key is its own name."""
        return Metric(raw, self.title, self.unit, self.better, self.group, self.meaning, (raw,))


class Glossary:
    """All that is known about metric names. Names are exact: a common ending means nothing."""

    def __init__(
        self,
        metrics: tuple[Metric, ...],
        families: tuple[Family, ...],
        written_by: Mapping[str, str],
        scales: Mapping[str, float],
        together: frozenset[str] = frozenset(),
    ) -> None:
        self.metrics = metrics
        self.families = families
        self._written_by = written_by
        self._scales = scales
        self._together = together
        self._by_key = {metric.key: metric for metric in metrics}
        self._by_name = {name: metric for metric in metrics for name in metric.names}
        # A thousand runs ask for the same names; matching them once is enough.
        self._in_family = lru_cache(maxsize=65536)(self._match)
        self._order = {metric.key: place for place, metric in enumerate(metrics)}

    def by_name(self, raw: str) -> Metric | None:
        """The metric logged as `raw`, or None. A member of a family has its own name as key."""
        exact = self._by_name.get(raw)
        return exact if exact is not None else self._in_family(raw)

    def _match(self, raw: str) -> Metric | None:
        return next((one.metric(raw) for one in self.families if fnmatchcase(raw, one.pattern)), None)

    def by_key(self, key: str) -> Metric | None:
        """The metric with canonical key `key`, or None."""
        return self._by_key.get(key)

    def describe(self, raw: str) -> Metric:
        """As `by_name`; for unknown names a made-up entry of group "other"."""
        return self.by_name(raw) or Metric(raw, raw, "", "neither", "other", "", (raw,))

    def canonical(self, names: Iterable[str]) -> dict[str, str]:
        """Map the names one run logs to canonical keys, at most one name per key.

        Where a run logs several names of one metric (`actor/kl_loss` and `critic/kl`), the first in
        `Metric.names` gets the key. Every other name keeps itself; a name that happens to spell the key of
        another metric becomes `raw:<name>`, so that no two names of a run ever meet in one column.
        """
        logged = list(dict.fromkeys(names))
        present = set(logged)
        result: dict[str, str] = {}
        for raw in logged:
            metric = self._by_name.get(raw)
            wanted = next((name for name in metric.names if name in present), None) if metric else None
            if metric is not None and wanted == raw:
                result[raw] = metric.key
            else:
                result[raw] = f"raw:{raw}" if raw in self._by_key else raw
        return result

    def scale(self, raw: str, gpus: int | None = None) -> float:
        """Factor from the number as logged to the unit of its metric, e.g. 1e-4 for `actor/lr(1e-4)`.

        A number that counts all GPUs of a run together is divided by `gpus`, where that is known.
        """
        shared = gpus if raw in self._together and gpus else 1
        return self._scales.get(raw, 1.0) / shared

    def group_of(self, raw: str) -> str:
        """Group on the pages; "other" for names that nobody knows."""
        return self.describe(raw).group

    def written_by(self, raw: str) -> str:
        """Versions of verl, or the tool, that write this name; "" where unknown."""
        return self._written_by.get(raw, "")

    def place(self, metric: Metric) -> tuple[int, int, str]:
        """Sort key that gives page order: by group, then as in the glossary, then by name."""
        return GROUPS.index(metric.group), self._order.get(metric.key, len(self._order)), metric.key


def glossary() -> Glossary:
    """The glossary that comes with sitegen, with titles and units in the spoken language."""
    return _glossary(spoken())


@cache
def _glossary(language: str) -> Glossary:
    """Once per language; `language` is the one that is spoken."""
    return parse((files("sitegen.metrics") / "glossary.toml").read_text(encoding="utf-8"))


def parse(text: str) -> Glossary:
    """Read a glossary from TOML. Raises KeyError or TypeError for entries that lack or add a field."""
    data = tomllib.loads(text)
    entries: list[dict[str, Any]] = data["metric"]
    written_by = {name: versions for entry in entries for name, versions in entry["names"].items()}
    scales = {name: float(scale) for entry in entries for name, scale in entry.pop("scale", {}).items()}
    together = frozenset(name for entry in entries for name in entry.pop("together", ()))
    metrics = tuple(Metric(**{**_told(entry), "names": tuple(entry["names"])}) for entry in entries)
    families = tuple(Family(**_told(entry)) for entry in data["family"])
    return Glossary(metrics, families, written_by, scales, together)


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry as the spoken language calls it."""
    return {**entry, "title": titled(entry["title"]), "unit": titled(entry["unit"])}
