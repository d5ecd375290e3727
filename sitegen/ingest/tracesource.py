"""What readers of traces share: traces on their way to batches, and what a run is told by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused
from sitegen.ingest.tracejson import Spans
from sitegen.ingest.tracespans import About, made
from sitegen.model import Batch, TraceSpan

SPANS = 500  # in a batch
CHARACTERS = 4 << 20  # likewise, about
TOLD = 20  # damaged traces told one by one


def batches(spans: Iterable[TraceSpan]) -> Iterator[Batch]:
    """Spans in batches of bounded size."""
    held: list[TraceSpan] = []
    size = 0
    for each in spans:
        held.append(each)
        size += len(each.arguments) + len(each.result) + len(each.error)
        if len(held) >= SPANS or size > CHARACTERS:
            yield Batch(spans=tuple(held))
            held, size = [], 0
    if held:
        yield Batch(spans=tuple(held))


def of_file(source: Source, about: About, problems: list[Problem]) -> Iterator[TraceSpan]:
    """Spans of a `traces.json`; what is wrong with it is added to `problems`."""
    found = Spans(source.path)
    try:
        for raw in found.of(source):
            yield made(about, raw)
    except SourceRefused as error:
        problems.append(Problem(source.path, None, error.kind, str(error), error.hint))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problems.append(Problem(source.path, None, "unreadable", f"cannot be read: {reason}"))
    problems.extend(chain(found.problems, source.notes))


def told(problems: list[Problem]) -> tuple[Problem, ...]:
    """The first of the problems, and how many more there are."""
    if len(problems) <= TOLD:
        return tuple(problems)
    more = f"{len(problems) - TOLD} more traces have such problems"
    return (*problems[:TOLD], Problem(problems[TOLD].path, None, problems[TOLD].kind, more))


def described(name: str, project: str) -> Batch:
    """What traces tell of the run that made them."""
    said = {"experiment": name, "title": name, "project": project}
    return Batch(facts={key: value for key, value in said.items() if value})
