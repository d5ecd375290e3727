"""Small archives for boards: each run is a few lines of a FileLogger log and a run.toml."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sitegen import archive

Record = Mapping[str, float]


class Runs:
    """Writes runs and opens the archive made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, records: Sequence[Record], first_step: int = 1, **said: str | int) -> None:
        """A run of one record per step; `said` goes to run.toml."""
        place = self.folder / "runs" / name
        place.mkdir(parents=True)
        lines = [json.dumps({"step": first_step + at, "data": dict(data)}) for at, data in enumerate(records)]
        (place / "log.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        toml = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
        (place / "run.toml").write_text(toml, encoding="utf-8")

    def open(self) -> archive.Archive:
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        archive.update(self.folder / "runs", self.folder / "home", jobs=1)
        return archive.Archive(self.folder / "home")


def training(steps: int, score: float = 0.5, **more: float) -> list[dict[str, float]]:
    """`steps` records with the same values."""
    return [{"critic/score/mean": score, "timing_s/step": 36.0, **more} for _ in range(steps)]


def validated(values: Mapping[int, float], steps: int, name: str = "gsm8k") -> list[dict[str, float]]:
    """Training with a validation at some steps."""
    records = training(steps)
    for step, value in values.items():
        records[step - 1][f"val-core/{name}/acc/mean@1"] = value
    return records
