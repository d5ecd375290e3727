"""A run logged by verl's own `Tracking` through every backend that works here, and what is read of it.

verl's other two, `vemlp_wandb` and `rl_insight`, send to a cloud and to Prometheus and leave no file.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sitegen import archive, ingest
from sitegen.archive import discovery, walk
from tests.ingest.reading import Reading, gathered
from tests.trackers import environment

pytestmark = [pytest.mark.xdist_group("verl"), pytest.mark.slow, pytest.mark.timeout(900)]

SCRIPT = Path(__file__).with_name("write_verl.py")
CONFIG = {
    "trainer": {"nnodes": 1, "logger": ["console"], "rollout_data_dir": None},
    "actor_rollout_ref": {"actor": {"optim": {"lr": 1e-06}}},
    "data": {"long": "x" * 7000},
}
RECORDS: list[tuple[int, dict[str, str]]] = [
    (0, {"val-core/openai/gsm8k/acc/mean@4": "0.25"}),
    (1, {"actor/grad_norm": "0.1", "actor/lr": "1e-06", "critic/score/mean": "-3.0000000000000004"}),
    (2, {"actor/grad_norm": "nan", "actor/lr": "1.1754943508222875e-38", "critic/score/mean": "inf"}),
    (3, {"actor/grad_norm": "12345678.9", "actor/lr": "0.0", "critic/score/mean": "-inf"}),
    (2, {"actor/grad_norm": "7.5", "actor/lr": "2e-06", "critic/score/mean": "0.5"}),
    (3, {"actor/grad_norm": "8.5", "actor/lr": "3e-06", "train/total_tokens(B)": "0.75"}),
    (4, {"actor/grad_norm": "9.25", "actor/lr": "4e-06", "critic/score/mean": "1.25"}),
]
SAMPLES = {
    "0": [["What is 2+2?", "<think>..</think>\n\n---\n\n4", 1.0], ["Prime?", "9 <b>{{x}}\u202e", 0.0]],
    "1": [["What is 2+2?", "4", 0.5], ["Prime?", "", -1.0]],
}
Value = tuple[int, str, str]


def all_values() -> list[Value]:
    return [(step, name, repr(float(text))) for step, row in RECORDS for name, text in row.items()]


def float32() -> list[Value]:
    return [(step, name, repr(float(np.float32(text)))) for step, name, text in all_values()]


def nulls() -> list[Value]:
    """The file logger writes what is not finite as null."""
    return [(s, n, "null" if text in ("nan", "inf", "-inf") else text) for s, n, text in all_values()]


def zeros() -> list[Value]:
    """ClearML writes what is not finite as 0."""
    return [(s, n, "0.0" if text in ("nan", "inf", "-inf") else text) for s, n, text in all_values()]


def firsts() -> list[Value]:
    """SwanLab keeps the first value of a name and step."""
    kept: dict[tuple[int, str], Value] = {}
    for each in all_values():
        kept.setdefault(each[:2], each)
    return list(kept.values())


def forward() -> list[Value]:
    """W&B drops what goes back; what comes again at the step at hand replaces what was there."""
    kept: dict[tuple[int, str], Value] = {}
    reached = -1
    for step, name, text in all_values():
        if step >= reached:
            reached = step
            kept[(step, name)] = (step, name, text)
    return list(kept.values())


@dataclass(frozen=True)
class Backend:
    """A backend of verl's Tracking: the format of what it leaves, what that keeps, what the reader tells."""

    name: str
    form: str
    kept: Callable[[], list[Value]] = all_values
    told: frozenset[str] = frozenset()
    samples: bool = True
    config: bool = True


BACKENDS = [
    Backend("console", "console", samples=False, config=False),
    Backend("file", "filelogger", nulls, samples=False, config=False),
    Backend("tensorboard", "tensorboard", float32, config=False),
    Backend("wandb", "wandb", forward),
    Backend("mlflow", "mlflow", told=frozenset({"cut"})),
    Backend("swanlab", "swanlab", firsts),
    Backend("trackio", "trackio"),
    Backend("clearml", "clearml", zeros, frozenset({"lossy"})),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder in which a backend wrote the run."""
    home = tmp_path_factory.mktemp("verl")
    # ClearML describes the repository of the script, and takes its time: there is none around this copy.
    script = Path(shutil.copy(SCRIPT, home))
    done: dict[str, Path] = {}

    def write(backend: str) -> Path:
        if backend not in done:
            done[backend] = logged(script, home / backend, backend, RECORDS, SAMPLES)
        return done[backend]

    return write


def logged(script: Path, folder: Path, backend: str, records: object, samples: Mapping[str, object]) -> Path:
    """What one process logs, in a folder that may hold what one before it logged."""
    (folder / "home").mkdir(parents=True)
    said = {"project": "crosscheck", "experiment": "grpo-7b", "config": CONFIG}
    stdin = json.dumps({**said, "records": records, "samples": samples})
    printed = environment.run(script, backend, stdin=stdin, cwd=folder, HOME=str(folder / "home"))
    with (folder / "stdout.log").open("a") as stream:
        stream.write(printed)
    shutil.rmtree(folder / "home")
    return folder


def read(folder: Path, form: str) -> Reading:
    """What the reader of a format finds; of the folder and its zip, which ClearML leaves both, the folder."""
    found = discovery.discover(folder, walk.walk(folder), {}, {}, {})
    sources = [each.source for run in found.runs for each in run.inputs if each.format == form]
    return gathered(ingest.by_name(form).read(sources[0]))


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: each.name)
def test_what_verl_logs_is_read_as_it_was_given(backend: Backend, written: Callable[[str], Path]) -> None:
    reading = read(written(backend.name), backend.form)
    finite = ((step, name, repr(value)) for step, row in reading.rows for name, value in row.items())
    assert Counter([*finite, *reading.odd]) == Counter(backend.kept())
    assert set(reading.kinds) - {"left-out"} == backend.told  # readings of the machine
    if backend.config:
        assert reading.facts["project"] == "crosscheck" and reading.facts["experiment"] == "grpo-7b"
        assert settled(reading.config) == {
            "trainer.nnodes": "1",
            "trainer.logger": "['console']",
            "actor_rollout_ref.actor.optim.lr": "1e-06",
        }


def settled(config: Mapping[str, str]) -> dict[str, str]:
    """The settings that every tracker keeps whole."""
    keys = ("trainer.nnodes", "trainer.logger", "actor_rollout_ref.actor.optim.lr")
    return {key: config[key] for key in keys}


@pytest.mark.parametrize("backend", [each for each in BACKENDS if each.samples], ids=lambda each: each.name)
def test_the_samples_of_its_validations_are_read_as_they_were_given(
    backend: Backend, written: Callable[[str], Path], tmp_path: Path
) -> None:
    assert samples(written(backend.name), tmp_path) == given()


def given() -> list[tuple[object, ...]]:
    return [("validation", int(step), *one) for step, found in SAMPLES.items() for one in found]


def samples(runs: Path, home: Path) -> list[tuple[object, ...]]:
    archive.update(runs, home / "home")
    made = archive.Archive(home / "home")
    (run,) = made.runs()
    file = made.samples(run)
    assert file is not None
    rows = pq.read_table(file).to_pylist()
    return [(row["kind"], row["step"], row["input"], row["output"], row["score"]) for row in rows]


def test_all_backends_together_are_one_run_and_each_sample_counts_once(
    written: Callable[[str], Path], tmp_path: Path
) -> None:
    for backend in BACKENDS:
        shutil.copytree(written(backend.name), tmp_path / "runs/a" / backend.name, symlinks=True)
    assert samples(tmp_path / "runs", tmp_path) == given()
    made = archive.Archive(tmp_path / "home")
    run = made.run("a")
    assert {each.form for each in BACKENDS} <= set(run.formats)
    series = made.series("a", ["actor/grad_norm"])["actor/grad_norm"]
    live = series.live & np.isfinite(series.values)
    assert series.steps[live].tolist() == [1, 2, 3, 4]
    assert series.values[live].tolist() == [0.1, 7.5, 8.5, 9.25]
    assert {each.name for each in run.summary} == {name for _, row in RECORDS for name in row}


def test_two_processes_of_one_training_are_two_segments_in_every_backend(tmp_path: Path) -> None:
    """The second resumes from the checkpoint of step 1, which it validates, and goes on with step 2."""
    script = Path(shutil.copy(SCRIPT, tmp_path))
    checked = (1, {"val-core/openai/gsm8k/acc/mean@4": "0.5"})
    for records in (RECORDS[:4], [checked, *RECORDS[4:]]):
        for backend in BACKENDS:
            logged(script, tmp_path / "runs/a" / backend.name, backend.name, records, {})
    archive.update(tmp_path / "runs", tmp_path / "home")
    made = archive.Archive(tmp_path / "home")
    assert made.runs() == ("a",)
    assert [(each.first, each.last) for each in made.run("a").segments] == [(0, 3), (2, 4)]
    series = made.series("a", ["actor/lr"])["actor/lr"]
    live = series.live & np.isfinite(series.values)
    assert dict(zip(series.steps[live].tolist(), series.values[live].tolist(), strict=True)) == {
        1: 1e-06, 2: 2e-06, 3: 3e-06, 4: 4e-06
    }  # fmt: skip
