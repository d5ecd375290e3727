"""Rollouts that verl traced with Trackio: an operation per row of `traces`, those of one answer a trajectory.

Trackio keeps no times of them and no tree: what ran within the loop is put below it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.ingest import generations, jsonl
from sitegen.ingest.tracespans import About, kind_of
from sitegen.model import TraceSpan

_WHERE = ("step", "sample_index", "rollout_n", "validate")
_TAKEN = {*_WHERE, "op", "backend", "status", "inputs", "output", "exception_type"}
_STANDS_IN = "verl rollout trace operation:"  # the first message of an operation that has none
_STATUS = {"success": "ok", "error": "error"}


def is_rollout(metadata: Mapping[str, object]) -> bool:
    """Whether a trace is an operation that verl traced."""
    return metadata.get("backend") == "trackio" and isinstance(metadata.get("op"), str)


def span(run: str, row: int, step: int | None, messages: object, metadata: Mapping[str, object]) -> TraceSpan:
    """The operation of a row of run `run`."""
    told = {key: str(metadata[key]) for key in _WHERE if metadata.get(key) is not None}
    told.setdefault("step", str(step) if step is not None else "")
    trace = f"{run[:40]}/{'/'.join(told.get(key, '') for key in _WHERE)}"
    about = About(trace, told)
    name = str(metadata["op"])
    kind = kind_of(name, "")
    whole = f"{trace}/run"
    said = messages if isinstance(messages, list) else []
    failed = _STATUS.get(str(metadata.get("status")), "unset")
    return TraceSpan(
        trace=trace,
        step=about.whole("step"),
        sample=about.whole("sample_index"),
        rollout=about.whole("rollout_n"),
        validation=about.validation,
        span=whole if kind == "agent" else f"{trace}/{row:012}",
        parent=None if kind == "agent" else whole,
        name=name,
        kind=kind,
        start_s=None,
        duration_s=None,
        status=failed,
        arguments=generations.text(_inputs(said[:-1], metadata.get("inputs"))),
        result=generations.text(metadata.get("output")),
        error=_error(said, metadata) if failed == "error" else "",
        attributes={str(key): value for key, value in metadata.items() if key not in _TAKEN},
    )


def _inputs(spoken: list[object], inputs: object) -> object:
    """What went in; messages among it are the trace's own, which else hold a repetition of the inputs."""
    first = spoken[0] if spoken else None
    content = first.get("content") if isinstance(first, Mapping) else None
    if not spoken or (isinstance(content, str) and content.startswith(_STANDS_IN)):
        return inputs
    return {"messages": spoken, **(inputs if isinstance(inputs, Mapping) else {})}


def _error(messages: list[object], metadata: Mapping[str, object]) -> str:
    """The exception as its last message tells it, else its type."""
    kind = str(metadata.get("exception_type") or "")
    last = messages[-1] if messages else None
    content = last.get("content") if isinstance(last, Mapping) else None
    try:
        found = jsonl.loads(content.encode("utf-8", "replace")) if isinstance(content, str) else None
    except (ValueError, RecursionError):
        found = None
    why = str(found.get("exception", "")) if isinstance(found, Mapping) else ""
    return f"{kind}: {why}" if kind and why else kind or why
