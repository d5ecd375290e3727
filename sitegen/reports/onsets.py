"""The moments of a run that are worth a look at what the model wrote and did."""

from __future__ import annotations

from collections.abc import Iterable

from sitegen.model import Incident, Severity

MOST = 3  # incidents with another onset


def worst(incidents: Iterable[Incident]) -> dict[int, list[Incident]]:
    """Onset -> its incidents, for the worst few of `incidents`, which come worst first; remarks are none."""
    found: dict[int, list[Incident]] = {}
    for one in incidents:
        if one.first is None or one.severity is Severity.INFO:
            continue
        if one.first in found or len(found) < MOST:
            found.setdefault(one.first, []).append(one)
    return found
