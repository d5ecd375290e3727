"""`traces.json`, one object with a list of spans -> the spans one by one, whatever is damaged around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest.jsonlist import Elements
from sitegen.ingest.source import Source

_OPENING = re.compile(r'"spans"\s*:\s*\[')
_HINT = "Copy the trace again if you can."


@dataclass
class Spans:
    """Spans of a file; `problems` is filled while they are read."""

    path: str
    problems: list[Problem] = field(default_factory=list)

    def of(self, source: Source) -> Iterator[dict[str, object]]:
        """All spans that can be read. Raises SourceRefused and OSError."""
        found = Elements(_OPENING, "spans")
        yield from (each for each in found.of(source) if isinstance(each, dict) and _is_span(each))
        self.problems += (
            Problem(self.path, None, "damaged", f"the trace is damaged: {what}", _HINT)
            for what in found.damage
        )


def _is_span(value: dict[str, object]) -> bool:
    return "name" in value and ("span_id" in value or "context" in value)
