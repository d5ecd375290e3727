"""ClearML's offline sessions, as a folder (`metrics.jsonl`, `task.json`, `log.jsonl`) or packed as a zip.

ClearML writes NaN and both infinities as 0, which cannot be told from a real 0 afterwards. Names are kept in
two parts, which verl split at the first slash. Everything else is exact, repeated steps included.
"""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import BinaryIO, cast

from sitegen.errors import Problem
from sitegen.ingest import console, hocon, jsonl, samples, settings
from sitegen.ingest.generations import VALIDATION, sample
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.mlflow_run import seconds
from sitegen.ingest.source import MAX_EXPANDED, MAX_LINE, MAX_RATIO, Source, SourceTooLarge
from sitegen.ingest.table_shape import shape
from sitegen.model import Batch, Sample

NAME = "clearml"
_ZIP = b"PK\x03\x04"
_METRICS, _TASK, _LOG = "metrics.jsonl", "task.json", "log.jsonl"
_MONITOR = ":monitor:"  # readings of the machine: their step is a time
_SCRIPT = {
    "version_num": "commit",
    "repository": "remote",
    "branch": "branch",
    "entry_point": "source",
}
_TASK_BYTES = 32 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)


def sniff(path: str, head: bytes) -> bool:
    """Whether this is a session's file of metrics, or a zip."""
    if head.startswith(_ZIP):
        return path.lower().endswith(".zip")
    start = head[:4096]
    return start.startswith(b"[{") and all(key in start for key in (b'"task"', b'"metric"', b'"iter"'))


def beside(path: str) -> tuple[str, ...]:
    """The description and the log of the session."""
    folder = path.rpartition("/")[0]
    within = f"{folder}/" if folder else ""
    return () if path.lower().endswith(".zip") else (f"{within}{_TASK}", f"{within}{_LOG}")


def holds(source: Source) -> bool:
    """Whether a zip is a session."""
    if source.head(4) != _ZIP:
        return True
    try:
        with _Session.opened(source) as session:
            return session.has(_METRICS) and session.has(_TASK)
    except (*_DAMAGED, OSError):
        return _METRICS.encode() in source.head(1 << 16)


def read(source: Source) -> Iterator[Batch]:
    """What is known about the task, its scalars in the order in which they were logged, lines of its log."""
    try:
        with _Session.opened(source) as session:
            yield from session.batches()
    except _DAMAGED as error:
        yield Batch(problems=(_damaged(source.path, error),))
    except OSError as error:  # what a zip packed with bzip2 raises; else a file that may not be read
        if source.head(4) != _ZIP:
            raise
        yield Batch(problems=(_damaged(source.path, error),))


def _damaged(path: str, error: Exception) -> Problem:
    what = f"the zip is damaged ({error}); what precedes was read"
    return Problem(path, None, "damaged", what, "Copy it again if you can.")


@dataclass
class _Session:
    """The files of a session, packed or not."""

    source: Source
    archive: zipfile.ZipFile | None = None
    zeros: int = 0
    readings: int = 0
    plots: int = 0
    others: Counter[str] = field(default_factory=Counter)  # events of kinds that hold no values
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    @contextmanager
    def opened(cls, source: Source) -> Iterator[_Session]:
        """The session; raises one of _DAMAGED for a zip that is none."""
        if source.head(4) != _ZIP:
            yield cls(source)
            return
        whole = Source(source.path, source.file)  # a zip is read from its end
        with whole.raw() as stream, zipfile.ZipFile(stream) as archive:
            yield cls(source, archive)

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return self.archive is not None and name in self.archive.namelist()

    @contextmanager
    def stream(self, name: str) -> Iterator[BinaryIO | None]:
        """One of the files, None when it is not there."""
        if self.archive is not None:
            if not self.has(name):
                yield None
                return
            entry = self.archive.getinfo(name)
            if entry.file_size > MAX_EXPANDED and entry.file_size > MAX_RATIO * entry.compress_size:
                raise SourceTooLarge(f"{name} in {self.source.path} unpacks to {entry.file_size >> 20} MB")
            with self.archive.open(entry) as packed:
                yield cast(BinaryIO, packed)
            return
        folder = self.source.path.rpartition("/")[0]
        path = f"{folder}/{name}" if folder else name
        found = self.source if name == _METRICS else self.source.member(path)
        if found is None:
            yield None
            return
        with found.open() as plain:
            yield plain

    def batches(self) -> Iterator[Batch]:
        """All that the session holds."""
        yield self._task()
        faults = Faults(self.source.path)
        yield from samples.batches(samples.records(self._samples(faults)), faults)
        if self.plots:
            yield from self._tables()
        odd = yield from self._log()
        yield Batch(problems=(*faults.problems(), *self._told(odd), *self.problems))

    def _task(self) -> Batch:
        with self.stream(_TASK) as stream:
            data = stream.read(_TASK_BYTES) if stream is not None else b"{}"
        try:
            task = jsonl.loads(data)
        except ValueError:
            task = None
        if not isinstance(task, dict):
            what = f"{_TASK} of the session cannot be read"
            return Batch(problems=(Problem(self.source.path, None, "malformed", what),))
        return Batch(config=_config(task), facts=_facts(task))

    def _samples(self, faults: Faults) -> Iterator[samples.Sample]:
        for line, event in self._events(faults):
            kind, step, value = event.get("type"), jsonl.whole(event.get("iter")), event.get("value")
            name = f"{event.get('metric')}/{event.get('variant')}"
            if kind == "plot":
                self.plots += 1
            elif kind != "training_stats_scalar":
                self.others[str(kind)[:40]] += 1
            elif missing := [key for key in ("metric", "variant", "value") if key not in event]:
                faults.bad(line, f"an event lacks its {missing[0]}")
            elif name.startswith(_MONITOR):
                self.readings += 1
            elif step is None:
                faults.bad(line, f"the step of {name[:80]} is {str(event.get('iter'))[:80]}")
            else:
                self.zeros += value == 0
                yield seconds(event.get("timestamp")), step, name, value

    def _tables(self) -> Iterator[Batch]:
        """Samples of the plots that are tables of them; the others stay counted."""
        for line, event in self._events(Faults(self.source.path)):
            if event.get("type") == "plot" and (found := _table(event, line)):
                self.plots -= 1
                yield Batch(samples=found)

    def _events(self, faults: Faults, name: str = _METRICS) -> Iterator[tuple[int, dict[str, object]]]:
        """(line, event) of all lines, each of which is a list of events."""
        with self.stream(name) as stream:
            number = 0
            while stream is not None and (line := stream.readline(MAX_LINE + 1)):
                number += 1
                if len(line) > MAX_LINE:
                    faults.too_long(number)
                    return
                try:
                    found = jsonl.loads(line)
                except ValueError:
                    found = _before_the_tear(line)
                    faults.torn(number, last=not line.endswith(b"\n"), kept=bool(found))
                events = found if isinstance(found, list) else [found]
                yield from ((number, event) for event in events if isinstance(event, dict))

    def _log(self) -> Generator[Batch, None, bool]:
        """Lines of the log that matter; returns whether it tells of values that were not finite."""
        odd = False

        def lines() -> Iterator[tuple[int, str]]:
            nonlocal odd
            number = 0
            for _, event in self._events(Faults(self.source.path), _LOG):
                for text in str(event.get("msg", "")).split("\n"):
                    number += 1
                    odd = odd or "value encountered. Reporting it as" in text
                    yield number, text

        for batch in console.read_lines(lines(), self.source.path):
            yield replace(batch, rows=None, problems=())
        return odd

    def _told(self, odd: bool) -> Iterator[Problem]:
        path = self.source.path
        if self.zeros and odd:
            what = (
                f"the log says that values were not finite: ClearML wrote them as 0 and nobody can say which "
                f"of the {self.zeros} zeros they are"
            )
            yield Problem(path, None, "lossy", what, "The console log of the run has them.")
        if self.readings:
            what = f"{self.readings} readings of the machine (:monitor:…) belong to no step and were left out"
            yield Problem(path, None, "left-out", what)
        if self.others:
            kinds = ", ".join(f"{kind} ({n})" for kind, n in sorted(self.others.items())[:5])
            yield Problem(path, None, "unsupported", f"events that are no values were not read: {kinds}")
        if self.plots:
            yield Problem(
                path,
                None,
                "unsupported",
                f"{self.plots} plots, and tables that hold no samples, were not read",
            )


def _table(event: dict[str, object], line: int) -> tuple[Sample, ...]:
    """Samples of a table, which Plotly keeps column by column; none for any other plot."""
    try:
        (plot,) = jsonl.loads(str(event.get("plot_str")).encode("utf-8", "replace"))["data"]  # type: ignore[index]
        names = [str(name[0]) if isinstance(name, list) else str(name) for name in plot["header"]["values"]]
        rows = zip(*plot["cells"]["values"], strict=True)
    except (ValueError, KeyError, TypeError, IndexError):
        return ()
    columns = shape(names)
    if columns is None:
        return ()
    named = jsonl.whole(event.get("iter"))
    found = (record for row in rows for record in columns.records(row))
    return tuple(sample(record, line, VALIDATION, named) for record in found)


def _before_the_tear(line: bytes) -> list[object]:
    """Whole objects at the beginning of a list that is torn."""
    text, decoder = line.decode("utf-8", "replace"), json.JSONDecoder()
    found: list[object] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
        at = text.find("{", end)
    return found


def _config(task: dict[str, object]) -> dict[str, str]:
    """Settings: configurations given as a whole, and single parameters under their section."""
    found: dict[str, str] = {}
    for name, each in _entries(task.get("configuration")):
        text = each.get("value")
        if isinstance(text, str):
            tree = hocon.parse(text)
            found |= settings.flat(tree if name == "Hyperparameters" or len(tree) > 1 else {name: tree})
    for section, parameters in _entries(task.get("hyperparams")):
        for name, each in _entries(parameters):
            key = name.replace("/", ".")
            found[key if section == "General" else f"{section}.{key}"] = str(each.get("value"))
    return found


def _entries(table: object) -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(table, dict):
        yield from ((str(key), each) for key, each in table.items() if isinstance(each, dict))


def _facts(task: dict[str, object]) -> dict[str, str]:
    script = task.get("script")
    found = {fact: script.get(key) for key, fact in _SCRIPT.items()} if isinstance(script, dict) else {}
    name = task.get("name")
    found |= {
        "title": name,
        "experiment": name,
        "project": task.get("project_name"),
        "run_id": task.get("id"),
    }
    return {key: str(value) for key, value in found.items() if value}
