"""What a verdict is built from."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model import Findings, LogLine, Run, Status
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import Best, ValidationView


@dataclass(frozen=True, slots=True)
class Case:
    """What a verdict is built from."""

    run: Run
    findings: Findings
    status: Status
    curves: Curves
    validation: tuple[ValidationView, ...]
    best: Best | None
    log_lines: tuple[LogLine, ...]
