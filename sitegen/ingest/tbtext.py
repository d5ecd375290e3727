"""Text and hyperparameters in TensorBoard files -> configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitegen.ingest import jsonl, literals, tbsamples
from sitegen.ingest.tbnotes import Notes
from sitegen.ingest.tbvalues import Value
from sitegen.ingest.wire import BYTES, FIXED64, VARINT, Malformed, double, fields, text

_CONFIG = re.compile(r"(^|[/_.-])(hyper_?param\w*|hparams?|config\w*|args|settings)([/_.-]|$)", re.IGNORECASE)
_ROW = re.compile(r"^\s*\|\s*([^|\s][^|]{0,200}?)\s*\|\s*([^|]*?)\s*\|\s*$")


def take(value: Value, step: int, notes: Notes) -> None:
    """Keep what configures the run and samples of validations; note everything else as not read."""
    if value.words is not None and (found := tbsamples.parsed(value.words, step)):
        notes.samples.append(found)
    elif value.plugin == "hparams":
        notes.config.update(_hparams(value.content))
    elif value.words is None:
        notes.other(value.other, value.tag, step)
    elif _CONFIG.search(value.tag) and (settings := _settings(value.words)):
        notes.config.update(settings)
    else:
        notes.other("text", value.tag, step)


def _settings(words: str) -> dict[str, str]:
    """Settings written as JSON or as a Markdown table of two columns."""
    try:
        whole = jsonl.loads(words.strip().strip("`").encode())
    except ValueError:
        whole = None
    if isinstance(whole, dict):
        return dict(literals.flatten(literals.of_json(whole)))
    rows = [match.groups() for line in words.splitlines() if (match := _ROW.match(line))]
    return {key: value for key, value in rows[1:] if not set(key) <= set("-: ")}


def _hparams(content: bytes) -> dict[str, str]:
    """Settings of HParamsPluginData.session_start_info; nothing where there are none or they are damaged."""
    found: dict[str, str] = {}
    try:
        for a, b in _messages(content, 0, len(content), 3):
            for c, d in _messages(content, a, b, 1):
                name, value = "", "null"
                for number, kind, e, f in fields(content, c, d):
                    if number == 1 and kind == BYTES:
                        name = text(content, e, f)
                    elif number == 2 and kind == BYTES:
                        value = _struct_value(content, e, f)
                found[name] = value
    except Malformed:
        pass
    return found


def _messages(data: bytes, start: int, end: int, wanted: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for number, kind, a, b in fields(data, start, end) if number == wanted and kind == BYTES)


def _struct_value(data: bytes, start: int, end: int) -> str:
    """A google.protobuf.Value as text."""
    for number, kind, a, b in fields(data, start, end):
        if number == 2 and kind == FIXED64:
            return _number(double(data, a))
        if number == 3 and kind == BYTES:
            return text(data, a, b)
        if number == 4 and kind == VARINT:
            return repr(bool(a))
    return "null"


def _number(value: float) -> str:
    """Every number is a double there: 8.0 was most likely 8."""
    return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
