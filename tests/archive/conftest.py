"""A runs folder in the making, and the archive of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sitegen import archive
from sitegen.errors import Problem
from sitegen.model import Run


class Made:
    """Writes logs below `runs` and reads what the archive makes of them."""

    def __init__(self, folder: Path) -> None:
        self.runs = folder / "runs"
        self.home = folder / ".sitegen"
        self.runs.mkdir()

    def file(self, path: str, data: bytes | str) -> Path:
        file = self.runs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def jsonl(self, path: str, records: Iterable[tuple[int, Mapping[str, object]]]) -> Path:
        """FileLogger records."""
        lines = [json.dumps({"step": step, "data": data}) for step, data in records]
        return self.file(path, "".join(line + "\n" for line in lines))

    def flat(self, path: str, records: Iterable[Mapping[str, object]]) -> Path:
        """Flat METRIC records."""
        return self.file(path, "".join(json.dumps(record) + "\n" for record in records))

    def console(self, path: str, records: Iterable[tuple[int, Mapping[str, object]] | str]) -> Path:
        """Console step lines; a text is a line of its own."""
        lines = []
        for each in records:
            if isinstance(each, str):
                lines.append(each)
            else:
                pairs = [f"{name}:{value}" for name, value in each[1].items()]
                lines.append(" - ".join([f"step:{each[0]}", *pairs]))
        return self.file(path, "".join(line + "\n" for line in lines))

    def update(self, **options: object) -> archive.Update:
        self.last = archive.update(self.runs, self.home, **options)  # type: ignore[arg-type]
        return self.last

    @property
    def archive(self) -> archive.Archive:
        return archive.Archive(self.home)

    def ids(self) -> list[str]:
        self.update()
        return list(self.archive.runs())

    def run(self, run: str | None = None) -> Run:
        """The run of that id, or the only one."""
        self.update()
        if run is None:
            (run,) = self.archive.runs()
        return self.archive.run(run)

    def rows(self, *names: str, run: str | None = None) -> list[tuple[object, ...]]:
        """Columns of steps.parquet, in row order."""
        table = pq.read_table(self.archive.steps(run or self.run().id), columns=list(names))
        return [tuple(row[name] for name in names) for row in table.to_pylist()]

    def extras(self, run: str | None = None) -> list[tuple[object, ...]]:
        table = pq.read_table(self.archive.extras(run or self.run().id))
        return [(r["kind"], r["step"], r["name"], r["raw"], r["source"]) for r in table.to_pylist()]


def curve(
    first: int, last: int, shift: float = 0.0, name: str = "critic/score/mean"
) -> list[tuple[int, dict[str, float]]]:
    """Records whose values have a fraction and depend on the step; `shift` makes another training."""
    return [
        (
            step,
            {
                name: round(0.123 + step * 0.0371 + shift, 6),
                "actor/grad_norm": round(1.7 - step * 0.0113 + shift, 6),
            },
        )
        for step in range(first, last + 1)
    ]


def kinds(problems: Iterable[Problem]) -> list[str]:
    return [problem.kind for problem in problems]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)
