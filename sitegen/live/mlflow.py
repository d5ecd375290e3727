"""Runs of an MLflow server through its REST API: every value, settings, tags, validation samples, traces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sitegen.errors import ConfigError, LiveError
from sitegen.live import mlflow_lists
from sitegen.live.address import Address, Copied
from sitegen.live.http import Client, NotFound, Query
from sitegen.live.mlflow_copy import Copy, Run, Trace, Value, opened
from sitegen.live.mlflow_lists import Experiment, Wanted

API, API3 = "api/2.0/mlflow", "api/3.0/mlflow"
RUNS = 100  # of a page: each comes with all its settings
VALUES = 10_000  # of a page
TRACES = 100
AT_ONCE = 4  # requests
_SAMPLES = re.compile(r"val_step\d{1,15}\.json")
_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")
Say = Callable[[str], None]


def copy(address: Address, folder: Path, say: Say) -> Copied:
    """Bring the copy in `folder` up to date. Raises LiveError, and ConfigError for what is not there."""
    client = Client(address.server)
    wanted = mlflow_lists.wanted(client, address.wanted)
    with opened(folder) as kept, ThreadPoolExecutor(AT_ONCE) as pool:
        fetching = _Fetching(client, kept, pool, say)
        done = [fetching.experiment(each, wanted) for each in wanted.experiments]
        if wanted.run and not any(one.runs for one in done):
            raise ConfigError(
                f"{address.server} has no run '{wanted.run}' in the experiment that was asked for."
            )
    return Copied(sum(one.runs for one in done), sum(one.fetched for one in done))


@dataclass(frozen=True, slots=True)
class _Fetching:
    client: Client
    kept: Copy
    pool: ThreadPoolExecutor
    say: Say

    def experiment(self, each: Experiment, wanted: Wanted) -> Copied:
        """All runs of an experiment, or the one that is wanted, and their traces."""
        self.kept.experiment(each.id, each.name, each.stage)
        listed: dict[str, Run] = {}
        fetched = 0
        for run in self._runs(each):
            if wanted.run in ("", run.id, run.name):
                listed[run.id] = run
                fetched += self._run(run)
        if not wanted.run and (gone := self.kept.deleted({each.id: set(listed)})):
            self.say(f"{gone} runs of '{each.name}' are no more on the server; their copies stay")
        self._traces(each, wanted, listed)
        return Copied(len(listed), fetched)

    def _runs(self, each: Experiment) -> Iterator[Run]:
        body = {"experiment_ids": [str(each.id)], "run_view_type": "ALL", "max_results": RUNS}
        for page in self.client.pages(f"{API}/runs/search", "runs", {}, body):
            for entry in page:
                run = mlflow_lists.run(entry, each.id)
                if run is None or not _SAFE.fullmatch(run.id):
                    self.say(f"a run of '{each.name}' has no usable id and was left out")
                else:
                    yield run

    def _run(self, run: Run) -> bool:
        """Fetch a run where it is not known to be unchanged; whether it changed."""
        if self.kept.fresh(run):
            return False
        self.say(f"fetching {run.name or run.id}: {len(run.metrics)} metrics")
        artifacts = self._artifacts(run)
        changed = self.kept.put(run, self._values(run))
        return changed or artifacts

    def _values(self, run: Run) -> Iterator[list[Value]]:
        """Pages of all metrics by name. First pages are asked for side by side, few at a time."""
        for at in range(0, len(run.metrics), 2 * AT_ONCE):
            some = run.metrics[at : at + 2 * AT_ONCE]
            histories = [self._history(run, name) for name in some]
            firsts: list[list[object]] = list(self.pool.map(_first, histories))
            for name, first, rest in zip(some, firsts, histories, strict=True):
                yield mlflow_lists.values(name, first)
                yield from (mlflow_lists.values(name, page) for page in rest)

    def _history(self, run: Run, name: str) -> Iterator[list[object]]:
        asked: Query = {"run_id": run.id, "metric_key": name, "max_results": VALUES}
        return self.client.pages(f"{API}/metrics/get-history", "metrics", asked)

    def _artifacts(self, run: Run) -> bool:
        """Samples of validations that verl left as artifacts; whether there are new ones."""
        folder = self.kept.folder / "mlruns" / str(run.experiment) / run.id / "artifacts"
        new = False
        try:
            for page in self.client.pages(f"{API}/artifacts/list", "files", {"run_id": run.id}):
                for entry in page:
                    name, size = mlflow_lists.file(entry)
                    kept = folder / name
                    if _SAMPLES.fullmatch(name) and not (kept.is_file() and kept.stat().st_size == size):
                        self.client.save("get-artifact", kept, {"path": name, "run_uuid": run.id})
                        new = True
        except LiveError as error:
            self.say(f"artifacts of {run.name or run.id} were left out: {error}")
        return new

    def _traces(self, each: Experiment, wanted: Wanted, listed: dict[str, Run]) -> None:
        place = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": str(each.id)}}
        body = {"locations": [place], "max_results": TRACES}
        names = {run.name for run in listed.values()}
        try:
            for page in self.client.pages(f"{API3}/traces/search", "traces", {}, body):
                for entry in page:
                    trace = mlflow_lists.trace(entry, each.id)
                    if (
                        trace
                        and _SAFE.fullmatch(trace.id)
                        and (not wanted.run or _is_of(trace, listed, names))
                    ):
                        self._trace(trace)
        except NotFound:
            self.say(f"'{each.name}': this server lists no traces (MLflow before 3)")

    def _trace(self, trace: Trace) -> None:
        if self.kept.fresh(trace):
            return
        folder = self.kept.folder / "mlruns" / str(trace.experiment) / "traces" / trace.id / "artifacts"
        try:
            self.client.save(
                "ajax-api/2.0/mlflow/get-trace-artifact", folder / "traces.json", {"request_id": trace.id}
            )
        except LiveError as error:
            self.say(f"trace {trace.id} was left out: {error}")
            return
        self.kept.trace(trace)


def _first(pages: Iterator[list[object]]) -> list[object]:
    return next(pages, [])


def _is_of(trace: Trace, listed: dict[str, Run], names: set[str]) -> bool:
    """Whether a trace is of one of the runs: made while it was open, or naming it."""
    said = {**dict(trace.tags), **dict(trace.metadata)}
    return said.get("mlflow.sourceRun") in listed or said.get("experiment_name") in names
