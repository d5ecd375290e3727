"""What the rules are held to on runs that nobody tuned them on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.detection.scoring import Score


@dataclass(frozen=True, slots=True)
class Target:
    """A figure that must be at least (`up`) or at most so much.

    Args:
        slack: how much worse it may be on degraded logs.
    """

    name: str
    limit: float
    up: bool
    slack: float

    def met(self, value: float | None, degraded: bool) -> bool:
        """Whether `value` is good enough; nothing to count is not a miss."""
        limit = self.limit if not degraded else self.limit + (-self.slack if self.up else self.slack)
        return value is None or (value >= limit if self.up else value <= limit)


HARD = Target("recall of hard faults", 0.99, True, 0.05)
SOFT = Target("recall of soft faults at medium strength", 0.92, True, 0.05)
PRECISION = Target("precision", 0.95, True, 0.05)
ALARMS = Target("false alarms per healthy run", 0.03, False, 0.05)
ONSET = Target("median onset error, % of the run", 1.5, False, 5.0)


def missed(total: Score, hard: Score, soft: Score, *, degraded: bool) -> Iterator[str]:
    """Which targets were not met, in words."""
    injected, found = soft.by_strength.get("medium", (0, 0))
    figures = (
        (HARD, hard.recall),
        (SOFT, found / injected if injected else None),
        (PRECISION, total.precision),
        (ALARMS, total.alarms_per_run),
        (ONSET, total.onset(50)),
    )
    for target, value in figures:
        if not target.met(value, degraded):
            yield f"{target.name}: {value:.3f}, the target is {target.limit}"
