"""Values by which a table can be narrowed, counted once at build time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sitegen.language import t

CHIPS = 8  # more values than this become a list to choose from


@dataclass(frozen=True, slots=True)
class Facet:
    """One attribute of the rows: its name in the URL, its title, and how often each value occurs."""

    name: str
    title: str
    values: tuple[tuple[str, int], ...]

    @property
    def chips(self) -> bool:
        """Whether the values fit as chips."""
        return len(self.values) <= CHIPS


def facet(name: str, title: str, values: Iterable[str | None], order: Sequence[str] = ()) -> Facet:
    """Facet of `values`; known ones in `order`, others by count, then by name. None is left out."""
    counts = Counter(value for value in values if value)
    places = {value: place for place, value in enumerate(order)}
    ranked = sorted(counts.items(), key=lambda item: (places.get(item[0], len(places)), -item[1], item[0]))
    return Facet(name, t(title), tuple(ranked))


def useful(facets: Iterable[Facet]) -> tuple[Facet, ...]:
    """Those that can narrow anything: two values or more."""
    return tuple(one for one in facets if len(one.values) > 1)
