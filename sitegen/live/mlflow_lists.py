"""What an MLflow server lists -> experiments, runs, traces, values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sitegen.config import nearest
from sitegen.errors import ConfigError
from sitegen.live.http import Client
from sitegen.live.mlflow_copy import Run, Trace, Value, digest

API = "api/2.0/mlflow"
LARGEST = 1.7976931348623157e308  # stands for infinity in MLflow's database
_PAGE = re.compile(r"/?experiments/(\d{1,19})(?:/runs/(\w+))?(?:/.*)?")  # of the web page's address


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of the server."""

    id: int
    name: str
    stage: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an address asks for: `run` is an id or a name, "" for all runs."""

    experiments: tuple[Experiment, ...]
    run: str = ""


def wanted(client: Client, text: str) -> Wanted:
    """What `text` names: an experiment, an experiment and a run, or everything.

    Names may hold slashes: the longest that is an experiment counts. Raises LiveError, and ConfigError where
    there is no such experiment.
    """
    body = {"max_results": 1000, "view_type": "ALL"}
    pages = client.pages(f"{API}/experiments/search", "experiments", {}, body)
    found = [each for page in pages for each in map(_experiment, page) if each is not None]
    if not text:
        return Wanted(tuple(found))
    by_name = {each.name: each for each in found}
    by_id = {str(each.id): each for each in found}
    if (page := _PAGE.fullmatch(text)) and page[1] in by_id:
        return Wanted((by_id[page[1]],), page[2] or "")
    parts = text.split("/")
    for n in range(len(parts), 0, -1):
        name = "/".join(parts[:n])
        if each := by_name.get(name) or by_id.get(name):
            return Wanted((each,), "/".join(parts[n:]))
    raise ConfigError(f"the server has no experiment '{text}'.{nearest(text, tuple(by_name))}")


def _experiment(entry: object) -> Experiment | None:
    said = _mapping(entry)
    id = _whole(said.get("experiment_id"))
    if id is None:
        return None
    return Experiment(id, str(said.get("name") or ""), str(said.get("lifecycle_stage") or "active"))


def run(entry: object, experiment: int) -> Run | None:
    """A run of `runs/search`; None without an id."""
    said = _mapping(entry)
    info, data = _mapping(said.get("info")), _mapping(said.get("data"))
    id = str(info.get("run_id") or info.get("run_uuid") or "")
    if not id:
        return None
    tags = _pairs(data.get("tags"))
    metrics = [_mapping(each) for each in _list(data.get("metrics"))]
    return Run(
        id=id,
        experiment=experiment,
        name=str(info.get("run_name") or dict(tags).get("mlflow.runName") or ""),
        user=str(info.get("user_id") or ""),
        status=str(info.get("status") or ""),
        start=_whole(info.get("start_time")),
        end=_whole(info.get("end_time")),
        stage=str(info.get("lifecycle_stage") or "active"),
        params=_pairs(data.get("params")),
        tags=tags,
        metrics=tuple(sorted({str(each.get("key")) for each in metrics})),
        seen=digest([info, data]),
    )


def trace(entry: object, experiment: int) -> Trace | None:
    """A trace of `traces/search`; None without an id."""
    said = _mapping(entry)
    id = str(said.get("trace_id") or "")
    if not id:
        return None
    state = str(said.get("state") or "")
    return Trace(
        id=id,
        experiment=experiment,
        time=_milliseconds(said.get("request_time")),
        tags=_sorted(said.get("tags")),
        metadata=_sorted(said.get("trace_metadata")),
        final=state in ("OK", "ERROR"),
        seen=digest(said),
    )


def file(entry: object) -> tuple[str, int]:
    """Name and size of an entry of `artifacts/list`; ("", 0) for a folder."""
    said = _mapping(entry)
    return (
        ("", 0) if said.get("is_dir") else (str(said.get("path") or ""), _whole(said.get("file_size")) or 0)
    )


def values(name: str, page: Iterable[object]) -> list[Value]:
    """A page of `metrics/get-history` as the database has it: NaN is a flag, infinity the largest number."""
    return [_value(name, _mapping(entry)) for entry in page]


def _value(name: str, said: Mapping[str, object]) -> Value:
    try:
        value = float(said.get("value") or 0.0)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    nan = math.isnan(value)
    kept = 0.0 if nan else max(-LARGEST, min(LARGEST, value))
    return name, kept, _whole(said.get("timestamp")) or 0, _whole(said.get("step")) or 0, int(nan)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    """Keys and values of settings or tags, sorted: a server has no order of its own."""
    said = (_mapping(each) for each in _list(value))
    return tuple(sorted((str(each.get("key")), str(each.get("value") or "")) for each in said))


def _sorted(value: object) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(key), str(text)) for key, text in _mapping(value).items()))


def _whole(value: object) -> int | None:
    """A whole number of 64 bits, as JSON numbers or texts have it."""
    try:
        found = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return None
    return int(found) if -(1 << 63) <= found < 1 << 63 else None


def _milliseconds(stamp: object) -> int:
    try:
        return round(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
