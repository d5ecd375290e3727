"""All that a page may know of the trajectories that a run traced."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model import Traced
from sitegen.reports.excerpts import Excerpt


@dataclass(frozen=True, slots=True)
class SpanView:
    """A span of a trajectory as shown."""

    name: str
    kind: str
    status: str
    depth: int  # below the root
    start_s: float | None  # since the trajectory began
    duration_s: float | None
    arguments: Excerpt | None
    result: Excerpt | None
    error: Excerpt | None
    note: str  # "" or what is odd about its place


@dataclass(frozen=True, slots=True)
class TrajectoryFacts:
    """A trajectory in numbers."""

    trace: str
    step: int | None
    sample: int | None
    rollout: int | None
    validation: bool
    spans: int
    turns: int  # calls of the model
    calls: int  # of tools
    failed: int  # of those
    errors: int  # spans of any kind that ended with an error
    duration_s: float | None  # from the first start to the last end


@dataclass(frozen=True, slots=True)
class Around:
    """Trajectories that show what an agent did when incidents began, by their anchors."""

    incidents: tuple[str, ...]  # anchors
    before: str  # the last one before the onset; "" = none
    at: str  # the first one while one of the incidents lasted


@dataclass(frozen=True, slots=True)
class TrajectoryView:
    """A trajectory as shown; `roles` say why it was chosen."""

    anchor: str
    roles: tuple[str, ...]
    facts: TrajectoryFacts
    spans: tuple[SpanView, ...]  # in the order of the tree
    left_out: int  # spans that are not shown


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call to look at; `anchor` of its trajectory, "" where that is not shown."""

    tool: str
    step: int | None
    duration_s: float | None
    error: str  # its first line
    anchor: str


@dataclass(frozen=True, slots=True)
class ToolView:
    """What the calls of one tool count to. Durations are those of calls that ended."""

    name: str
    calls: int
    failed: int
    open: int  # without an end: neither success nor failure
    p50_s: float | None
    p95_s: float | None
    longest_s: float | None

    @property
    def rate(self) -> float | None:
        """Share of the calls with an end that raised no error."""
        ended = self.calls - self.open
        return (ended - self.failed) / ended if ended else None


@dataclass(frozen=True, slots=True)
class TracesReport:
    """A choice of the trajectories that were traced, and all tools."""

    counts: Traced
    tools: tuple[ToolView, ...]  # by calls
    slowest: tuple[CallView, ...]
    failed: tuple[CallView, ...]
    shown: tuple[TrajectoryView, ...]  # by step
    around: tuple[Around, ...] = ()  # by badness
