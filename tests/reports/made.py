"""Runs, series and incidents written by hand, for tests of what is said about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import (
    Evidence,
    Fact,
    Findings,
    Incident,
    LogLine,
    Outcome,
    Phase,
    PhaseName,
    Rule,
    Run,
    Segment,
    Series,
    Severity,
    SourceFile,
    Verdict,
)

NAN = float("nan")

_RUN = Run(
    id="demo",
    path="demo",
    title="demo",
    project=None,
    experiment=None,
    algorithm="GRPO",
    model="tiny",
    verl_version="0.9.1",
    commit=None,
    hardware="8 x H100",
    gpus=8,
    started_at=None,
    ended_at=1_000_000.0,
    wall_s=3600.0,
    steps=100,
    first_step=1,
    last_step=100,
    planned_steps=100,
    finished=True,
    growing=False,
    segments=(Segment(0, 1, 100, 100, "demo/train.log", "start"),),
    sources=(SourceFile("demo/train.log", "console", 10, "ab" * 32, 100, 1, 100),),
    formats=("console",),
    tags=(),
    owner=None,
    baseline=None,
    notes="",
    aliases=(),
    config={},
    summary=(),
    problems=(),
    fingerprint="f",
)


def run(**changes: Any) -> Run:
    """A finished run of 100 steps on 8 GPUs, with `changes`."""
    return replace(_RUN, **changes)


def series(columns: Mapping[str, Sequence[float]], first: int = 1) -> dict[str, Series]:
    """Series of one segment under their names as logged; steps count from `first`."""
    keys = glossary().canonical(columns)
    return {name: one(name, keys[name], values, first) for name, values in columns.items()}


def one(name: str, key: str, values: Sequence[float], first: int = 1) -> Series:
    """One series of live rows."""
    n = len(values)
    return Series(
        name,
        key,
        np.arange(first, first + n, dtype=np.int64),
        np.array(values, dtype=np.float64),
        np.zeros(n, dtype=np.int64),
        np.ones(n, dtype=np.bool_),
    )


def incident(
    rule: str = "GRD-01", severity: str = "warning", first: int | None = 50, **changes: Any
) -> Incident:
    """An incident that is over after ten steps, with one evidence step."""
    base = Incident(
        id=f"demo/{rule}-1",
        run="demo",
        segment=0,
        rule=rule,
        title="Gradient spike",
        severity=Severity.of(severity),
        first=first,
        last=None if first is None else first + 10,
        open=False,
        metric="grad_norm",
        value=5.0,
        threshold=1.0,
        message="Gradient norm 5.0 exceeds 1.0",
        causes=(),
        advice=("lower `actor_rollout_ref.actor.optim.lr`",),
        evidence=Evidence("grad_norm", (49, 50), (0.5, 5.0), (1.0, 1.0)),
    )
    return replace(base, **changes)


def moved(*facts: tuple[str, str, float, float], lines: tuple[LogLine, ...] = ()) -> Evidence:
    """Evidence of (metric, label, before, after) and log lines."""
    return Evidence(
        "score", facts=tuple(Fact(key, label, "", a, b) for key, label, a, b in facts), lines=lines
    )


def line(kind: str, text: str, number: int = 7, step: int | None = None, level: str = "error") -> LogLine:
    """A log line of demo/train.log."""
    return LogLine("demo/train.log", number, None, level, kind, step, text)


def findings(
    *incidents: Incident, phases: Sequence[tuple[str, int, int]] = (), blind: Mapping[str, Sequence[str]] = {}
) -> Findings:
    """Findings with phases (name, first, last) and rules that could not run: code -> what is missing."""
    fired = tuple(Verdict(code, Outcome.FIRED) for code in sorted({one.rule for one in incidents}))
    missing = tuple(Verdict(code, Outcome.NOT_APPLICABLE, tuple(keys)) for code, keys in blind.items())
    spans = tuple(Phase(0, PhaseName(name), first, last) for name, first, last in phases)
    return Findings("demo", spans, incidents, (*fired, *missing))


def rule(code: str = "GRD-01") -> Rule:
    """A card."""
    return Rule(
        code, "x", "Gradient spike", "", "incident", Severity.WARNING, (), "0.1.0", {}, "", {}, "x.md"
    )


def replaced(line: LogLine, **changes: Any) -> LogLine:
    """`line` with `changes`."""
    return replace(line, **changes)
