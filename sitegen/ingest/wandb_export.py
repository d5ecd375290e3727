"""A run of W&B's server as `live` copies it: a line that describes it, then the rows of its history.

Rows are what W&B's own scan hands out: each with `_step` and `_timestamp`, dicts nested, NaN and infinities
as numbers or texts. They are read as those of W&B's log are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from sitegen.errors import Problem
from sitegen.ingest import jsonl, settings
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.jsonrows import Found, Records
from sitegen.ingest.source import Source
from sitegen.ingest.wandb_history import History
from sitegen.ingest.wandb_log import table_beside
from sitegen.ingest.wandb_notes import Notes
from sitegen.model import Batch

NAME = "wandb-history"
_MARK = b'"wandb_history": 1'
_FACTS = {
    "project": "project", "name": "experiment", "run": "wandb_run", "group": "group",
    "state": "tracker_status", "commit": "commit",
}  # fmt: skip
_TIMES = {"started": "first_time", "ended": "last_time"}


def sniff(path: str, head: bytes) -> bool:
    """Whether the first line is the description that `live` writes."""
    return head.startswith(b"{") and _MARK in head.partition(b"\n")[0]


def read(source: Source) -> Iterator[Batch]:
    """Configuration and facts, then step records in the order of their rows."""
    faults = Faults(source.path)
    notes = Notes(source.path, lambda name: table_beside(source.file.parent, name))
    history = History(notes)
    block = Records(faults)
    with source.open() as stream:
        for first, lines in jsonl.stretches(stream, faults):
            if first == 1:
                yield _described(lines[0], source.path)
                first, lines = 2, lines[1:]
            found = _found(first, lines, history, faults)
            while block.extend(found):
                yield Batch(rows=block.rows())
                block = Records(faults)
            block.spend(sum(map(len, lines)))
    notes.records = 1  # of the log, which is not here
    rows = block.rows() if block.steps else None
    problems = (*notes.problems(damaged=False), *faults.problems())
    if history.records == 0 and not problems:
        problems = (Problem(source.path, None, "empty", "nothing was logged to this run"),)
    yield Batch(rows=rows, problems=problems)


def _found(first: int, lines: list[bytes], history: History, faults: Faults) -> Iterator[Found]:
    for number, line in enumerate(lines, first):
        try:
            row = jsonl.loads(line)
        except ValueError:
            faults.torn(number, last=not line.endswith(b"\n"), kept=False)
            continue
        if not isinstance(row, dict):
            faults.bad(number, "it is no object")
        elif record := history.of_row(row):
            yield number, *record, False


def _described(line: bytes, path: str) -> Batch:
    try:
        said = jsonl.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        what = "the first line, which describes the run, is torn"
        return Batch(problems=(Problem(path, 1, "truncated", what, "Fetch the run again."),))
    facts = {fact: str(said[key]) for key, fact in _FACTS.items() if said.get(key)}
    facts |= {fact: time for key, fact in _TIMES.items() if (time := _seconds(said.get(key)))}
    given = said.get("config")
    config = given if isinstance(given, Mapping) else {}
    own = {str(key): value for key, value in config.items() if not str(key).startswith("_wandb")}
    return Batch(config=settings.flat(own), facts=facts)


def _seconds(stamp: object) -> str:
    """Unix seconds of an ISO time, which W&B writes in UTC; "" for what is none."""
    try:
        moment = datetime.fromisoformat(str(stamp))
    except ValueError:
        return ""
    return repr((moment if moment.tzinfo else datetime.fromisoformat(f"{stamp}+00:00")).timestamp())
