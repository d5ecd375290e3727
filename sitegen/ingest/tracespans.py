"""A span as MLflow writes it -> `TraceSpan`.

Two layouts are in use: that of MLflow 2 (`context`, `start_time`, `status_code`) and that of MLflow 3, which
follows OpenTelemetry (`span_id` in base64, `start_time_unix_nano`, `status`). What verl says of a trajectory
(step, sample_index, rollout_n, validate) are tags of its trace.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.ingest import jsonl
from sitegen.model import TraceSpan

Json = Mapping[str, object]

_TOOL = re.compile(r"\.(?:execute|call_tool|_call_tool)$|^execute_tool\b", re.IGNORECASE)
_LLM = re.compile(r"(?:^|\.)(?:generate|chat|completions?|acompletion|invoke_model)$", re.IGNORECASE)
_PARSER = re.compile(r"^\w*parser\.", re.IGNORECASE)
_AGENT = re.compile(r"loop\.run$|^agent_loop", re.IGNORECASE)
_TYPES = {
    "TOOL": "tool", "LLM": "llm", "CHAT_MODEL": "llm", "PARSER": "parser", "AGENT": "agent", "CHAIN": "agent",
}  # fmt: skip
_HEX = re.compile(r"(?:0x)?([0-9a-f]{1,32})", re.IGNORECASE)
_TAKEN = {"mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType", "mlflow.traceRequestId"}
_STATUS = {"OK": "ok", "ERROR": "error", "1": "ok", "2": "error"}
_LATEST = 1e11  # Unix seconds: a later start is none


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a trace besides its spans."""

    trace: str
    tags: Mapping[str, str] = field(default_factory=dict)

    def whole(self, key: str) -> int | None:
        """A tag that counts something."""
        text = self.tags.get(key, "").strip().strip('"')
        return int(text) if re.fullmatch(r"-?\d{1,15}", text) else None

    @property
    def validation(self) -> bool:
        """Whether it was made while validating."""
        return self.tags.get("validate", "").strip().strip('"').lower() in ("true", "1")


def made(about: About, raw: Json, columns: Json | None = None) -> TraceSpan:
    """The span that `raw` describes; `columns` (a row of a database) fills in what its text lacks."""
    given = columns or {}
    attributes = _mapping(raw.get("attributes"))
    context = _mapping(raw.get("context"))
    start = _first(raw.get("start_time_unix_nano"), raw.get("start_time"), given.get("start"))
    end = _first(raw.get("end_time_unix_nano"), raw.get("end_time"), given.get("end"))
    name = _plain(_first(raw.get("name"), given.get("name"))) or "nameless"
    begun = _seconds(start)
    return TraceSpan(
        trace=about.trace,
        step=about.whole("step"),
        sample=about.whole("sample_index"),
        rollout=about.whole("rollout_n"),
        validation=about.validation,
        span=_id(_first(given.get("span"), context.get("span_id"), raw.get("span_id"))) or "",
        parent=_id(_first(given.get("parent"), raw.get("parent_span_id"), raw.get("parent_id"))),
        name=name,
        kind=kind_of(name, _plain(_decoded(attributes.get("mlflow.spanType"))) or _plain(given.get("type"))),
        start_s=begun,
        duration_s=_duration(start, end) if begun is not None else None,
        status=_status(raw, given, _seconds(end) is not None),
        arguments=_shown(attributes.get("mlflow.spanInputs")),
        result=_shown(attributes.get("mlflow.spanOutputs")),
        error=_error(raw),
        attributes={key: _decoded(value) for key, value in attributes.items() if key not in _TAKEN},
    )


def kind_of(name: str, stated: str) -> str:
    """By the type that the tracer states, else by verl's names; verl states UNKNOWN."""
    if stated.upper() in _TYPES:
        return _TYPES[stated.upper()]
    for kind, pattern in (("tool", _TOOL), ("llm", _LLM), ("parser", _PARSER), ("agent", _AGENT)):
        if pattern.search(name):
            return kind
    return "other"


def _status(raw: Json, given: Json, ended: bool) -> str:
    """A fault is one whether or not the span has an end; success is not known before the end."""
    status = raw.get("status")
    code = status.get("code") if isinstance(status, dict) else _first(status, raw.get("status_code"))
    text = _plain(_first(code, given.get("status"))).upper().removeprefix("STATUS_CODE_")
    found = _STATUS.get(text, "unset")
    return found if found == "error" or ended else "open"


def _error(raw: Json) -> str:
    """What went wrong: the message of the status, and what the exception events add to it."""
    status = raw.get("status")
    message = status.get("message") if isinstance(status, dict) else raw.get("status_message")
    said = [_plain(message)]
    events = raw.get("events")
    for each in events if isinstance(events, list) else ():
        attributes = _mapping(_mapping(each).get("attributes"))
        kind, why = (_plain(attributes.get(f"exception.{key}")) for key in ("type", "message"))
        line = f"{kind}: {why}" if kind and why else kind or why
        if line and line not in said[0]:
            said.append(line)
        said.append(_plain(attributes.get("exception.stacktrace")))
    return "\n".join(dict.fromkeys(text for text in said if text))


def _shown(value: object) -> str:
    """Inputs and outputs are JSON in a text; JSON that is but a text is shown as that text."""
    decoded = value
    if isinstance(value, str):
        if not value.startswith('"'):
            return value
        decoded = _decoded(value)
    if decoded is None:
        return ""
    return decoded if isinstance(decoded, str) else json.dumps(decoded, ensure_ascii=False)


def _decoded(value: object) -> object:
    """Attributes are stored as JSON each."""
    if not isinstance(value, str):
        return value
    try:
        return jsonl.loads(value.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return value


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _first(*values: object) -> object:
    return next((each for each in values if each is not None), None)


def _plain(value: object) -> str:
    return "" if value is None else str(value)


def _id(value: object) -> str | None:
    """A span's id as hex digits, however it is written."""
    if value is None or value == "":
        return None
    text = str(value)
    if len(text) == 12 and text.endswith("="):  # 8 bytes in base64
        try:
            return base64.b64decode(text, validate=True).hex()
        except (binascii.Error, ValueError):
            return text
    found = _HEX.fullmatch(text)
    return found[1].lower().rjust(16, "0") if found else text


def _nanoseconds(value: object) -> int | None:
    try:
        found = int(value) if isinstance(value, (int, str)) else None
    except ValueError:
        return None
    return found if found is not None and 0 < found < _LATEST * 1e9 else None


def _seconds(value: object) -> float | None:
    found = _nanoseconds(value)
    return None if found is None else found / 1e9


def _duration(start: object, end: object) -> float | None:
    """Seconds between two times; one that ends before it begins has no duration."""
    first, last = _nanoseconds(start), _nanoseconds(end)
    if first is None or last is None or last < first:
        return None
    seconds = (last - first) / 1e9
    return seconds if math.isfinite(seconds) else None
