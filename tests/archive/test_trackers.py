"""Runs whose history lies with trackers: alone, beside a console log, after restarts."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from sitegen import archive
from sitegen.ingest import filelogger
from sitegen.ingest.source import Source
from tests.ingest.events import event, file, scalar, version
from tests.ingest.reading import gathered
from tests.ingest.wandb_files import config, framed, history, printed

from .conftest import Made


def events(steps: range, scale: float = 0.37, **more: float) -> bytes:
    """An event file with a value per step that has a fraction."""
    return file(*(event(s, scalar("a", scale * s), *(scalar(n, v) for n, v in more.items())) for s in steps))


def live(made: Made, run: str, name: str) -> dict[int, float]:
    series = made.archive.series(run, [name])[name]
    kept = series.live & np.isfinite(series.values)
    return dict(zip(series.steps[kept].tolist(), series.values[kept].tolist(), strict=True))


def f32(value: float) -> float:
    return float(np.float32(value))


def test_restarts_that_wrote_to_one_folder_are_segments_of_one_run(made: Made) -> None:
    """TensorBoard shows the event files of a folder as one run; values that differ are a new attempt."""
    made.file("a/events.out.tfevents.1700000000.host.1.0", events(range(1, 9)))
    made.file("a/events.out.tfevents.1700009999.host.2.0", events(range(1, 6), scale=0.21))
    assert made.ids() == ["a"]
    assert [(s.first, s.last) for s in made.run().segments] == [(1, 8), (1, 5)]
    assert live(made, "a", "a")[2] == f32(0.42) and live(made, "a", "a")[7] == f32(0.37 * 7)


def test_a_resume_in_another_file_goes_on_where_the_first_ended(made: Made) -> None:
    made.file("a/events.out.tfevents.1700000000.host.1.0", events(range(1, 9)))
    made.file("a/events.out.tfevents.1700009999.host.2.0", events(range(9, 12)))
    assert made.ids() == ["a"]
    assert made.run().steps == 11


def test_a_folder_of_event_files_is_called_like_the_folder(made: Made) -> None:
    made.file("events.out.tfevents.1700000000.host.1.0", events(range(1, 4)))
    assert made.ids() == ["runs"]
    made.file("events.out.tfevents.1700000000.host.1.1", version())
    assert made.ids() == ["runs"]


def test_an_event_file_without_steps_is_a_run_that_says_so(made: Made) -> None:
    made.file("a/events.out.tfevents.1700000000.host.1.0", version())
    assert made.ids() == ["a"]
    assert made.run().steps == 0
    assert [p.kind for p in made.run().problems] == ["empty"]


@pytest.mark.parametrize("name", ["events.out.tfevents.17.host.1.0", "run-abc.wandb"])
def test_a_file_of_no_bytes_is_told(made: Made, name: str) -> None:
    made.file(f"a/{name}", b"")
    assert made.ids() == []
    assert [(p.path, p.kind) for p in made.last.problems] == [(f"a/{name}", "empty")]


def test_a_float32_copy_gives_way_to_the_number_it_was_made_of(made: Made) -> None:
    """0.48 may be exact although it has no more than three decimals."""
    values = [0.48, 0.1, 0.123456789012, 0.5, 1e-6]
    made.console("a/train.log", [(i, {"a": v, "b": 0.25 * i}) for i, v in enumerate(values, 1)])
    made.file(
        "a/tensorboard_log/p/e/events.out.tfevents.17.host.1.0",
        file(*(event(i, scalar("a", v), scalar("b", 0.25 * i)) for i, v in enumerate(values, 1))),
    )
    assert made.ids() == ["a"]
    assert list(live(made, "a", "a").values()) == values
    assert made.run().problems == ()


def test_a_float32_copy_is_finer_than_three_decimals(made: Made) -> None:
    made.console("a/train.log", [(i, {"a": f"{0.12345 * i:.3f}", "b": 0.25 * i}) for i in range(1, 6)])
    made.file("a/events.out.tfevents.17.host.1.0", events(range(1, 6), scale=0.12345))
    assert made.ids() == ["a"]
    assert list(live(made, "a", "a").values()) == [f32(0.12345 * i) for i in range(1, 6)]


RUN = "wandb/run-20260101_000000-abc"


def test_a_w_and_b_folder_is_one_run_with_its_output_log(made: Made) -> None:
    truth = {step: 0.123456 * step for step in range(1, 7)}
    start = config(17, trainer={"project_name": "p", "experiment_name": "e"})
    made.file(
        f"a/{RUN}/run-abc.wandb", framed(start, *(history(s, **{"actor/x": v}) for s, v in truth.items()))
    )
    lines = [(s, {"actor/x": f"{v:.3f}"}) for s, v in truth.items()]
    made.console(f"a/{RUN}/files/output.log", [*lines, (7, {"actor/x": 0.5})])
    made.file(f"a/{RUN}/files/wandb-summary.json", '{"_step": 6, "actor/x": 0.7, "_wandb": {"runtime": 5}}')
    assert made.ids() == ["a"]
    assert live(made, "a", "actor/x") == {**truth, 7: 0.5}
    assert (made.run().project, made.run().experiment) == ("p", "e")
    assert made.run().problems == ()


def test_what_w_and_b_kept_of_an_earlier_attempt_contradicts_nothing(made: Made) -> None:
    """After a resume at step 4 W&B drops steps 4 and 5 of the second attempt and keeps those of the first."""
    first = [(s, {"a": 0.37 * s, "b": 0.11 * s}) for s in range(1, 7)]
    second = [(s, {"a": 0.29 * s, "b": 0.13 * s}) for s in range(4, 10)]
    made.console("a/train.log", [*first, *second])
    kept = [*first[:5], *second[2:]]
    words = "Tried to log to step 4 that is less than the current step 6. \n"
    made.file(f"a/{RUN}/run-abc.wandb", framed(*(history(s, **v) for s, v in kept), printed(words)))
    assert made.ids() == ["a"]
    assert [(s.first, s.last) for s in made.run().segments] == [(1, 6), (4, 9)]
    assert [p.kind for p in made.run().problems] == ["lost"]


def test_two_runs_in_one_w_and_b_folder_are_two_runs(made: Made) -> None:
    for run, scale in (("run-20260101_000000-abc", 0.37), ("run-20260102_000000-def", 0.11)):
        data = framed(*(history(s, a=scale * s) for s in range(1, 7)))
        made.file(f"a/wandb/{run}/run-{run[-3:]}.wandb", data)
    assert len(made.ids()) == 2


# --- real runs -------------------------------------------------------------------------------


def truth_of(corpus: Path) -> dict[int, dict[str, float]]:
    """The last value of every metric and step that verl's FileLogger wrote for the run of the trackers."""
    (path,) = corpus.glob("trackers/file/demo_proj/*.jsonl")
    last: dict[int, dict[str, float]] = {}
    for step, values in gathered(filelogger.read(Source(path.name, path))).rows:
        last.setdefault(step, {}).update(values)
    return last


def archived(made: Made, run: str) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for name in made.archive.columns(run).values():
        for step, value in live(made, run, name).items():
            found.setdefault(step, {})[name] = value
    return found


def odd(made: Made, run: str) -> set[tuple[int, str, str]]:
    series = made.archive.series(run)
    return {(step, name, raw) for name, one in series.items() for step, raw in one.non_finite}


ODD = {(17, "actor/grad_norm", "nan"), (23, "actor/pg_loss", "-inf"), (23, "actor/ppo_kl", "inf")}


@pytest.mark.corpus
def test_a_run_in_tensorboard_only_is_whole_in_float32(made: Made, corpus: Path) -> None:
    shutil.copytree(corpus / "trackers" / "tensorboard", made.runs / "tensorboard")
    (run,) = made.ids()
    expected = {s: {n: f32(v) for n, v in row.items()} for s, row in truth_of(corpus).items()}
    assert archived(made, run) == expected
    assert odd(made, run) == ODD
    assert [(s.first, s.last) for s in made.archive.run(run).segments] == [(0, 40), (38, 61)]


@pytest.mark.corpus
def test_a_run_in_w_and_b_only_lacks_what_w_and_b_dropped_and_says_so(made: Made, corpus: Path) -> None:
    shutil.copytree(corpus / "trackers" / "wandb", made.runs / "wandb")
    (run,) = made.ids()
    found, expected = archived(made, run), truth_of(corpus)
    assert {step for step in expected if found[step] != expected[step]} == {38, 39}
    assert odd(made, run) == ODD
    assert "lost" in [p.kind for p in made.archive.run(run).problems]


@pytest.mark.corpus
def test_trackers_console_and_file_logger_are_one_run_with_every_digit(made: Made, corpus: Path) -> None:
    for part in ("console", "file", "tensorboard", "wandb"):
        shutil.copytree(corpus / "trackers" / part, made.runs / "run" / part)
    assert made.ids() == ["run"]
    assert archived(made, "run") == truth_of(corpus)
    assert odd(made, "run") == ODD
    assert {p.kind for p in made.archive.run("run").problems} == {"left-out", "lost"}


@pytest.mark.corpus
def test_a_real_w_and_b_folder_has_the_steps_of_its_log_and_the_digits_of_its_history(
    made: Made, corpus: Path
) -> None:
    archive.update(corpus / "wandb", made.home)
    (run,) = made.archive.runs()
    exported = corpus / "logs" / "101-opd-gjvwlq13-wandbhistory.jsonl"
    found = archived(made, run)
    table = "val/generations/"
    for step, values in gathered(filelogger.read(Source(exported.name, exported))).rows:
        metrics = {name: value for name, value in values.items() if not name.startswith(table)}
        assert metrics.items() <= found[step].items()
        assert set(found[step]) == set(metrics), "the console adds no name"
    assert sorted(found) == list(range(60)), "step 59 is in the console log only"
    kinds = {p.kind for p in made.archive.run(run).problems}
    assert "conflict" not in kinds and "repeat" not in kinds
