"""Reading an archive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sitegen.archive import manifest as store
from sitegen.archive import runjson
from sitegen.errors import ArchiveError, Problem
from sitegen.language import ENGLISH, spoken
from sitegen.metrics import glossary
from sitegen.model import Floats, LogLine, Run, Series


class Archive:
    """The archive at `home`, as the last update left it. Another process gets it without what was read."""

    def __init__(self, home: Path, language: str | None = None) -> None:
        self.home = home
        self._language = spoken() if language is None else language  # what is cached is told in it
        self._folder = home / "archive"
        self._runs: dict[str, tuple[Run, dict[str, str]]] = {}

    def __reduce__(self) -> tuple[type[Archive], tuple[Path, str]]:
        return Archive, (self.home, self._language)

    def runs(self) -> tuple[str, ...]:
        """Ids of all runs, sorted."""
        if not self._folder.is_dir():
            return ()
        found = (each.name for each in self._folder.iterdir() if (each / "run.json").is_file())
        return tuple(sorted(name for name in found if not name.startswith(".")))

    def run(self, run: str) -> Run:
        """Facts of a run. Raises ArchiveError for an id that the archive does not hold."""
        return self._load(run)[0]

    def steps(self, run: str) -> Path:
        """The run's steps.parquet."""
        return self._file(run, "steps.parquet")

    def extras(self, run: str) -> Path:
        """The run's extras.parquet: non-finite values, repeats and conflicts."""
        return self._file(run, "extras.parquet")

    def lines(self, run: str) -> Path:
        """The run's lines.parquet."""
        return self._file(run, "lines.parquet")

    def samples(self, run: str) -> Path | None:
        """The run's samples.parquet; None where it dumped no generations."""
        file = self.steps(run).with_name("samples.parquet")
        return file if file.is_file() else None

    def traces(self, run: str) -> Path | None:
        """The run's traces.parquet; None where it has no traces."""
        file = self.steps(run).with_name("traces.parquet")
        return file if file.is_file() else None

    def columns(self, run: str) -> Mapping[str, str]:
        """Stored column -> name as logged, for the metric columns of steps.parquet."""
        return self._load(run)[1]

    def series(self, run: str, names: Iterable[str] | None = None) -> dict[str, Series]:
        """Series by name as logged, all or those of `names` that the run has."""
        wanted = {logged: column for column, logged in self.columns(run).items()}
        if names is not None:
            asked = set(names)
            wanted = {logged: column for logged, column in wanted.items() if logged in asked}
        table = _table(self.steps(run), columns=["step", "segment", "live", "cut", *wanted.values()])
        steps, segments, live, cut = (table.column(i).to_numpy() for i in range(4))
        keys = glossary().canonical(self.columns(run).values())
        odd = self._non_finite(run)
        return {
            logged: Series(
                name=logged,
                metric=keys.get(logged, logged),
                steps=steps,
                values=_doubles(table.column(column)),
                segments=segments.astype(np.int64),
                live=live,
                non_finite=tuple(odd.get(logged, ())),
                cut=cut if cut.any() else None,
            )
            for logged, column in wanted.items()
        }

    def times(self, run: str) -> dict[int, float]:
        """Step -> Unix seconds of the live rows whose source says when they were logged."""
        table = _table(self.steps(run), ["step", "time", "live"])
        steps, live = table.column("step").to_numpy(), table.column("live").to_numpy()
        times = _doubles(table.column("time"))
        known = live & np.isfinite(times)
        return dict(zip(steps[known].tolist(), times[known].tolist(), strict=True))

    def clock(self, run: str) -> Floats:
        """(rows,) Unix seconds of all rows, in the order of `series`; NaN where the source does not say."""
        return _doubles(_table(self.steps(run), ["time"]).column(0))

    def log_lines(self, run: str) -> tuple[LogLine, ...]:
        """Lines kept for diagnosis, by source and line."""
        return tuple(LogLine(**row) for row in _table(self.lines(run)).to_pylist())

    def problems(self) -> tuple[Problem, ...]:
        """Problems that belong to no run."""
        return self._manifest.problems

    def ignored(self) -> tuple[str, ...]:
        """Files under RUNS that no reader claimed."""
        return self._manifest.ignored

    def removed(self) -> tuple[tuple[str, str, str], ...]:
        """Runs that removed.toml lists: (id, date, why)."""
        return self._manifest.removed

    def now(self) -> float | None:
        """Newest time stamp in the archive, Unix seconds; None when no log has times."""
        runs = map(self.run, self.runs())
        stamps = (stamp for run in runs for stamp in (run.started_at, run.ended_at) if stamp is not None)
        return max(stamps, default=None)

    def cached(self, room: str, key: str) -> bytes | None:
        """What `keep` stored under this key, or None."""
        try:
            return self._cache_file(room, key).read_bytes()
        except OSError:
            return None

    def keep(self, room: str, key: str, data: bytes) -> None:
        """Store bytes under a key of a room. What a power cut damages is found damaged and made again."""
        store.write_atomically(self._cache_file(room, key), data, durable=False)

    def kept(self, room: str, key: str) -> Path:
        """The file in which `keep` stores what it is given under this key."""
        return self._cache_file(room, key)

    def prune(self, room: str, keys: Iterable[str]) -> None:
        """Remove all of a room's entries but those of `keys`."""
        kept = {self._cache_file(room, key).name for key in keys}
        folder = self._room(room)
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name not in kept:
                file.unlink(missing_ok=True)

    @cached_property
    def _manifest(self) -> store.Manifest:
        return store.load(self.home / "manifest.json", None)

    def _cache_file(self, room: str, key: str) -> Path:
        # A key may be a run id as long as a file name can be, with a suffix.
        return self._room(room) / hashlib.sha256(key.encode()).hexdigest()[:40]

    def _room(self, room: str) -> Path:
        """A room per language, so that a site in two does not forget the one for the other."""
        return self.home / "cache" / (room if self._language == ENGLISH else f"{room}.{self._language}")

    def _file(self, run: str, name: str) -> Path:
        file = self._folder / run / name
        if "/" in run or run.startswith(".") or not file.is_file():
            raise ArchiveError(
                f"there is no run {run!r} in the archive; `sitegen ingest` lists what was read"
            )
        return file

    def _load(self, run: str) -> tuple[Run, dict[str, str]]:
        if run not in self._runs:
            try:
                self._runs[run] = runjson.loads(self._file(run, "run.json").read_bytes())
            except (ValueError, KeyError, TypeError) as error:
                raise ArchiveError(
                    f"run.json of {run} is damaged ({error}); remove {self.home.name} and build again"
                ) from error
        return self._runs[run]

    def _non_finite(self, run: str) -> dict[str, list[tuple[int, str]]]:
        found: dict[str, list[tuple[int, str]]] = {}
        for row in _table(self.extras(run), columns=["kind", "step", "name", "raw"]).to_pylist():
            if row["kind"] == "non_finite":
                found.setdefault(row["name"], []).append((row["step"], row["raw"]))
        return found


def _table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A small file whole: `read_table` looks for data sets of many files first, which takes longer."""
    with pq.ParquetFile(path) as file:
        return file.read(columns, use_threads=False)


def _doubles(column: pa.ChunkedArray) -> Floats:
    result: Floats = column.to_numpy().astype(np.float64, copy=False)
    return result
