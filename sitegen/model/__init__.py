"""The nouns of sitegen. Everything here is frozen; arrays are read-only by convention."""

from sitegen.model.batch import Batch, LogLine, NonFinite, Rows, Sample, TraceSpan
from sitegen.model.cards import BoardEntry, Leaderboard, Rule
from sitegen.model.findings import Evidence, Fact, Findings, Incident, Muted, Phase, Verdict
from sitegen.model.metric import Metric, Series
from sitegen.model.numbers import Floats, Ints
from sitegen.model.page import Page
from sitegen.model.run import (
    ConfigSource,
    Dumped,
    MetricSummary,
    Mute,
    Note,
    Run,
    Segment,
    SourceFile,
    Traced,
)
from sitegen.model.words import Outcome, PhaseName, Severity, State, Status

__all__ = [
    "Batch",
    "BoardEntry",
    "ConfigSource",
    "Dumped",
    "Evidence",
    "Fact",
    "Findings",
    "Floats",
    "Incident",
    "Ints",
    "Leaderboard",
    "LogLine",
    "Metric",
    "MetricSummary",
    "Mute",
    "Muted",
    "NonFinite",
    "Note",
    "Outcome",
    "Page",
    "Phase",
    "PhaseName",
    "Rows",
    "Rule",
    "Run",
    "Sample",
    "Segment",
    "Series",
    "Severity",
    "SourceFile",
    "State",
    "Status",
    "TraceSpan",
    "Traced",
    "Verdict",
]
