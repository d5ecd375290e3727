"""Which incidents belong together, which one a run is known for, and what began it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.model import Incident, Severity

_TOGETHER = 10  # steps within which incidents count as one event; more in a long run
_SHARE = 0.03  # of the steps of a run
_PRECEDENCE = ("RUN", "GRD-04", "ACT-09", "ROL", "KL", "ENT", "REW")  # where several begin at the same step
_SIGNATURE = "REW-03"  # made of what other rules tell one by one:
_SIGNS = ("KL-", "LEN-", "ENT-")


@dataclass(frozen=True, slots=True)
class Story:
    """The main event of a run.

    Args:
        main: the worst incident, earliest where several are as bad.
        root: the earliest incident of the same event; may be `main`.
        along: the other incidents of the event, by onset.
        others: incidents of warning and worse outside of it, by onset.
    """

    main: Incident
    root: Incident
    along: tuple[Incident, ...]
    others: tuple[Incident, ...]


def tell(incidents: Sequence[Incident]) -> Story | None:
    """The story of a run's incidents; None where there are remarks only."""
    serious = [incident for incident in incidents if incident.severity >= Severity.WARNING]
    if not serious:
        return None
    reach = _reach(incidents)
    lasting = _lasting(serious, reach)
    main = min(serious, key=lambda one: (-one.severity, one.id not in lasting, *_order(one)))
    main = _signature(main, serious, reach) or main
    event = sorted((one for one in serious if _together(one, main, reach)), key=_order)
    along = tuple(one for one in event if one is not main)
    others = tuple(sorted((one for one in serious if one not in event), key=_order))
    return Story(main, _root(event, main), along, others)


def _signature(main: Incident, serious: Sequence[Incident], reach: float) -> Incident | None:
    """A signature as bad as `main` that began with it: it says what `main`, a part of it, does not."""
    alike = (one for one in serious if one.rule == _SIGNATURE and one.severity == main.severity)
    return min((one for one in alike if _together(one, main, reach)), key=_order, default=None)


def _root(event: Sequence[Incident], main: Incident) -> Incident:
    """The earliest of an event; where it grew into something worse of the same metric, that.

    A spike of the gradient two steps before its explosion is how the explosion begins, not its cause; nor is
    one sign of a signature the cause of the others.
    """
    first = event[0]
    if main.rule == _SIGNATURE and first.rule.startswith(_SIGNS):
        return main
    same = [one for one in event if _alike(one, first)]
    return max(same, key=lambda one: (one.severity, one is main, -_order(one)[0]), default=first)


def _alike(one: Incident, other: Incident) -> bool:
    """Whether two incidents are about one metric, told by rules of one group."""
    if one.metric is None or one.metric != other.metric:
        return False
    return one.rule.partition("-")[0] == other.rule.partition("-")[0]


def first_serious(incidents: Sequence[Incident]) -> Incident | None:
    """The earliest incident of error or worse that has an onset within the run."""
    bad = [one for one in incidents if one.severity >= Severity.ERROR and one.first is not None]
    return min(bad, key=_order) if bad else None


def worst_first(incidents: Sequence[Incident], lead: Incident | None = None) -> tuple[Incident, ...]:
    """Order of the cards on a run page: `lead`, which the headline names, comes before all others."""
    return tuple(sorted(incidents, key=lambda one: (one is not lead, -_weight(one), *_order(one))))


def _weight(incident: Incident) -> float:
    """Severity; what is still true at the end weighs a little more than what passed."""
    return incident.severity + (0.5 if incident.open else 0.0)


def _reach(incidents: Sequence[Incident]) -> float:
    return max(_TOGETHER, _SHARE * max((one.last or 0 for one in incidents), default=0))


def _lasting(serious: Sequence[Incident], reach: float) -> frozenset[str]:
    """Ids of incidents that are still true at the end, or passed into one that is and no worse."""
    found: set[str] = set()
    for one in sorted(serious, key=_order, reverse=True):
        if one.open or any(other.id in found and _leads_to(one, other, reach) for other in serious):
            found.add(one.id)
    return frozenset(found)


def _leads_to(one: Incident, other: Incident, reach: float) -> bool:
    if one.first is None or one.last is None or other.first is None:
        return False
    return one.segment == other.segment and one.first <= other.first <= one.last + reach


def _together(one: Incident, other: Incident, reach: float) -> bool:
    if one.first is None or other.first is None:
        return one.first is other.first
    return one.segment == other.segment and abs(one.first - other.first) <= reach


def _order(incident: Incident) -> tuple[int, int, str]:
    place = (i for i, prefix in enumerate(_PRECEDENCE) if incident.rule.startswith(prefix))
    onset = -1 if incident.first is None else incident.first
    return onset, next(place, len(_PRECEDENCE)), incident.id
