"""Reading one source to its end: records into the spool, everything else kept, secrets taken out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sitegen.archive.samples import SampleFile
from sitegen.archive.spool import Part, Spool
from sitegen.archive.traces import TraceFile
from sitegen.errors import Problem
from sitegen.ingest import Format, Mangling, Store, by_name, generations
from sitegen.ingest.source import Source, SourceRefused
from sitegen.model import Batch, Floats, Ints, LogLine, Rows, Sample, SourceFile, TraceSpan
from sitegen.redact import redact, redact_name, redact_value

MAX_LINES = 20_000  # log lines kept per source: the first half and the last half
MAX_CONFIG = 20_000  # settings kept per source


@dataclass(frozen=True, slots=True)
class Records:
    """Step records of one source in file order, n of them; their values lie in the spool."""

    steps: Ints  # (n,)
    lines: Ints  # (n,)
    times: Floats  # (n,) Unix seconds or NaN
    cut: NDArray[np.bool_]  # (n,) the record lost its end
    parts: Ints  # (n,) number of the part in the spool
    index: Ints  # (n,) position in that part


@dataclass(frozen=True, slots=True)
class Staged:
    """All that was read from one source."""

    file: SourceFile
    records: Records
    log_lines: tuple[LogLine, ...]
    config: Mapping[str, str]
    facts: Mapping[str, str]
    problems: tuple[Problem, ...]

    @property
    def times(self) -> tuple[float, ...]:
        """Unix seconds of the first and last time stamp of the text and of the lines kept."""
        stated = (self.facts.get("first_time"), self.facts.get("last_time"))
        return (
            *(float(time) for time in stated if time is not None),
            *(line.time for line in self.log_lines if line.time is not None),
        )


def sha256(source: Source) -> str:
    """Hash of the bytes on disk, at most `source.size` of them. Raises SourceRefused and OSError."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(1 << 18))  # one buffer for the whole file stays in the processor's cache
    with source.raw() as stream:
        while n := stream.readinto(buffer):  # type: ignore[attr-defined]
            digest.update(buffer[:n])
    return digest.hexdigest()


def content(source: Source, kind: str) -> str:
    """Hash of what a source of format `kind` holds, members included. Raises SourceRefused, OSError."""
    form = by_name(kind) if source.part else None
    if isinstance(form, Store):
        return form.digest(source)
    own = sha256(source)
    if not source.members:
        return own
    parts = [
        own,
        *(f"{each.path}\0{sha256(Source(each.path, each.file, each.size))}" for each in source.members),
    ]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def stage(
    source: Source, form: Format, sha: str, spool: Spool, samples: SampleFile, traces: TraceFile
) -> Staged:
    """Read a source. A reader that fails leaves what it read so far and a problem of kind "internal"."""
    taking = _Taking(source.path, spool, samples, traces, _original(form, spool), form is not generations)
    try:
        for batch in form.read(source):
            taking.batch(batch)
    except SourceRefused as error:
        taking.problems.append(Problem(source.path, None, error.kind, str(error), error.hint))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        hint = "Check that the file is still there and may be read."
        taking.problems.append(Problem(source.path, None, "unreadable", f"cannot be read: {reason}", hint))
    except Exception as error:  # one bad run never stops the others
        taking.problems.append(_internal(source.path, form.NAME, error))
    taking.problems.extend(source.notes)
    return taking.done(form.NAME, source.size or 0, sha)


def derived(path: str, name: str, batches: Iterable[Batch], spool: Spool) -> Staged:
    """A source of rows that were counted from what other sources hold."""
    taking = _Taking(path, spool)
    for batch in batches:
        taking.batch(batch)
    return taking.done(name, 0, "")


def _original(form: Format, spool: Spool) -> Callable[[str], str]:
    """What gives a name that a tracker changed back as another source has it, where only one becomes it."""
    if not isinstance(form, Mangling):
        return str
    found: dict[str, set[str]] = {}
    for name in spool.names:
        found.setdefault(form.mangled(name), set()).add(name)
    single = {short: min(names) for short, names in found.items() if len(names) == 1}
    return lambda name: single.get(form.mangled(name), name)


def _internal(path: str, name: str, error: Exception) -> Problem:
    what = f"the {name} reader failed here ({type(error).__name__}); what precedes was kept"
    return Problem(path, None, "internal", what, "Please report it with the file.")


@dataclass
class Span:
    """How many generations or spans a source holds, and of which steps."""

    n: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, found: Sequence[Sample] | Sequence[TraceSpan]) -> None:
        """Count some."""
        self.n += len(found)
        steps = [each.step for each in found if each.step is not None]
        if steps:
            self.first = min(steps) if self.first is None else min(self.first, *steps)
            self.last = max(steps) if self.last is None else max(self.last, *steps)


@dataclass
class _Taking:
    path: str
    spool: Spool
    samples: SampleFile | None = None
    traces: TraceFile | None = None
    original: Callable[[str], str] = str  # see `_original`
    copies: bool = False  # samples that other sources may hold as well
    generations: Span = field(default_factory=Span)
    spans: Span = field(default_factory=Span)  # of traces
    rows: list[tuple[Rows, int]] = field(default_factory=list)
    head: list[LogLine] = field(default_factory=list)
    tail: list[LogLine] = field(default_factory=list)
    dropped: int = 0
    names: dict[str, str] = field(default_factory=dict)  # as logged -> as stored
    harmless: bool = True  # no name had to change
    config: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    secrets: Counter[str] = field(default_factory=Counter)

    def batch(self, batch: Batch) -> None:
        if batch.rows is not None and len(batch.rows.steps):
            number = self.spool.add(Part.of(self._renamed(batch.rows)))
            slim = replace(batch.rows, columns={}, non_finite=())
            self.rows.append((slim, number))
        for line in batch.log_lines:
            self._line(replace(line, text=self._clean(line.text)))
        if batch.spans and self.traces is not None:
            self.spans.add(batch.spans)
            self.secrets += self.traces.add(self.path, batch.spans)
        if batch.samples and self.samples is not None:
            self.generations.add(batch.samples)
            self.secrets += self.samples.add(self.path, batch.samples, copies=self.copies)
        for key, value in batch.config.items():
            if len(self.config) < MAX_CONFIG or key in self.config:
                short, found = redact_value(key, value)
                self.secrets += found
                self.config[self._clean(key)] = short
        for key, value in batch.facts.items():
            self.facts.setdefault(key, self._clean(value))
        self.problems.extend(self._problem(problem) for problem in batch.problems)

    def _renamed(self, rows: Rows) -> Rows:
        """The rows with metric names that may be stored."""
        for name in {*rows.columns, *(each.name for each in rows.non_finite)} - self.names.keys():
            self.names[name], found = redact_name(self.original(name))
            self.secrets += found
            self.harmless &= self.names[name] == name
        if self.harmless:
            return rows
        columns = {self.names[name]: column for name, column in rows.columns.items()}
        odd = tuple(replace(each, name=self.names[each.name]) for each in rows.non_finite)
        return replace(rows, columns=columns, non_finite=odd)

    def _clean(self, text: str) -> str:
        short, found = redact(text)
        self.secrets += found
        return short

    def _problem(self, problem: Problem) -> Problem:
        return replace(problem, message=self._clean(problem.message), hint=redact(problem.hint)[0])

    def _line(self, line: LogLine) -> None:
        half = MAX_LINES // 2
        if len(self.head) < half:
            self.head.append(line)
            return
        self.tail.append(line)
        if len(self.tail) > 2 * half:
            self.dropped += len(self.tail) - half
            del self.tail[:-half]

    def done(self, name: str, size: int, sha: str) -> Staged:
        if len(self.tail) > MAX_LINES // 2:
            self.dropped += len(self.tail) - MAX_LINES // 2
            del self.tail[: -(MAX_LINES // 2)]
        if self.dropped:
            what = f"{self.dropped} log lines in the middle were left out; {MAX_LINES} were kept"
            self.problems.append(Problem(self.path, None, "too-many", what))
        for kind, n in sorted(self.secrets.items()):
            what = f"{n} x {kind} replaced by [redacted:{kind}]"
            self.problems.append(
                Problem(self.path, None, "redacted", what, "Change the secret: it lies in the log.")
            )
        records = _records(self.rows)
        n = len(records.steps)
        first, last = (int(records.steps[0]), int(records.steps[-1])) if n else (None, None)
        for found in (self.generations, self.spans):
            if not n:  # a log that holds them as well is counted by its records
                n, first, last = found.n, found.first, found.last
        file = SourceFile(self.path, name, size, sha, n, first, last)
        lines = tuple(self.head + self.tail)
        return Staged(file, records, lines, self.config, self.facts, tuple(self.problems))


def _records(rows: Sequence[tuple[Rows, int]]) -> Records:
    lengths = [len(chunk.steps) for chunk, _ in rows]
    cut = [np.isin(np.arange(n), chunk.cut) for n, (chunk, _) in zip(lengths, rows, strict=True)]
    none = np.empty(0, dtype=np.int64)
    return Records(
        steps=np.concatenate([none, *(chunk.steps for chunk, _ in rows)]),
        lines=np.concatenate([none, *(chunk.lines for chunk, _ in rows)]),
        times=_fresh(np.concatenate([none.astype(np.float64), *(chunk.times for chunk, _ in rows)])),
        cut=np.concatenate([none.astype(np.bool_), *cut]),
        parts=np.repeat(np.array([number for _, number in rows], dtype=np.int64), lengths),
        index=np.concatenate([none, *(np.arange(n, dtype=np.int64) for n in lengths)]),
    )


def _fresh(times: Floats) -> Floats:
    """Times without those that repeat the one before: no clock was logged between the two records."""
    times[1:][np.diff(times) == 0] = np.nan
    return times
