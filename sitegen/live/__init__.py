"""Runs of a tracker's server, copied into files that the readers of `ingest` know.

A copy is what the tracker would have left on disk: of MLflow a database with its artifacts, of W&B a folder
per run. Asked again, only what changed is fetched. No tracker's package is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sitegen.live import mlflow, wandb_runs
from sitegen.live.address import Address, Copied, is_address, parse

__all__ = ["Address", "Copied", "copy", "is_address", "parse"]


def copy(address: Address, folder: Path, say: Callable[[str], None]) -> Copied:
    """Bring the copy of `address` in `folder` up to date; `say` is told what was left out, and progress.

    Raises LiveError where the server cannot be reached or refuses, or the folder cannot be written. What was
    copied before that stays, whole run by whole run.
    """
    reader = wandb_runs.copy if address.kind == "wandb" else mlflow.copy
    return reader(address, folder, say)
