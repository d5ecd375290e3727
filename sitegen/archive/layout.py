"""Names of folders that trainers and trackers make inside the folder of a run."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

# Only names that a person would hardly give to a run of their own.
_INSIDE = re.compile(
    r"""(?xi)
    logs? | metrics | debug | console | stdout | stderr | slurm([_-]?logs?)? | output[_-]?logs?
  | wandb | (offline-)?run-\d{8}_\d{6}-\w+ | files | media | table | val
  | outputs? | multirun | \d{4}-\d\d-\d\d | \d\d-\d\d-\d\d | \.hydra | hydra[_-]outputs
  | tensorboard([_-]?logs?)? | tb([_-]?logs?)? | events
  | swanlog | swanlab | echarts | mlruns | mlflow([_-]\w+)? | trackio | clearml | file | file[_-]?logger
  | rollouts? | rollout[_-]data([_-]dir)? | validation([_-]data([_-]dir)?)?
  | val[_-]data | dumps? | generations | traces?
  | checkpoints? | ckpts? | global_step_\d+ | artifacts | profile
  | tr-[0-9a-f]{16,32} | ray | session_[\d_-]+\w* | sessions?
  | attempt_\d+ | ((global|local|node)[_-]?)?rank[_-]?\d{1,5}
    """
)
_TORCHRUN = re.compile(r"attempt_\d+")
ATTEMPT = re.compile(r"(offline-)?run-\d{8}_\d{6}-\w+|\d\d-\d\d-\d\d", re.IGNORECASE)
_STORED = re.compile(r"(?:(?:(?:^|/)mlruns)?(?:^|/)\d+)?(?:^|/)[0-9a-f]{32}")  # `mlruns/<experiment>/<run>`


def above_store(folder: str) -> str | None:
    """The folder in which a tracker's store with the run of `folder` lies; None where a person named it."""
    found = next((each for each in _STORED.finditer(folder) if each.end() == len(folder)), None)
    return None if found is None else folder[: found.start()]


def is_inside(name: str) -> bool:
    """Whether a folder of this name belongs to the run of the folder above it."""
    return _INSIDE.fullmatch(name) is not None


def tells_nothing(name: str) -> bool:
    """Whether a folder of this name is no name for a run: structure, or what archives are called."""
    return is_inside(name) or name.lower() in ("runs", "offline")


def home(folder: str, alone: Container[str] = ()) -> str:
    """The folder whose run the files of `folder` belong to: the nearest that is no structure; "" is RUNS.

    Folders in `alone` are no structure whatever their name.
    """
    parts = folder.split("/") if folder else []
    while parts and within(parts) and "/".join(parts) not in alone:
        parts.pop()
    return "/".join(parts)


def within(parts: Sequence[str]) -> bool:
    """Whether the last folder of a path belongs to the run above: torchrun numbers those of its processes."""
    numbered = len(parts) > 1 and parts[-1].isdigit() and _TORCHRUN.fullmatch(parts[-2])
    return bool(numbered) or is_inside(parts[-1])
