"""W&B's log and the files beside it: what is kept, what W&B lost, what damage leaves."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitegen.errors import Problem
from sitegen.ingest import filelogger, wandb_files, wandb_log
from sitegen.ingest.source import Source

from .events import field
from .reading import Reading, gathered
from .wandb_files import BLOCK, HEADER, config, framed, history, item, printed, timestamp


def read(data: bytes, folder: Path) -> Reading:
    file = folder / "run-abc.wandb"
    file.write_bytes(data)
    return gathered(wandb_log.read(Source("run/run-abc.wandb", file)))


def kept(problems: list[Problem]) -> list[str]:
    return [problem.kind for problem in problems]


def test_history_is_kept_with_every_digit_and_its_names(tmp_path: Path) -> None:
    values = {"val-core/openai/gsm8k/acc/mean@4": 0.1 + 0.2, "x//y": 3, "a b (c)": 1e-300}
    found = read(framed(history(1, **values), history(2, lr=1e-6)), tmp_path)
    assert found.rows == [(1, values), (2, {"lr": 1e-6})]
    assert found.problems == []


def test_what_w_and_b_adds_is_no_metric(tmp_path: Path) -> None:
    found = read(framed(history(7, _timestamp=1.5e9, _runtime=12, _wandb={"runtime": 12}, a=1)), tmp_path)
    assert found.rows == [(7, {"a": 1.0})]
    assert found.times == [1.5e9]


def test_values_that_are_not_finite(tmp_path: Path) -> None:
    found = read(framed(history(1, a=math.nan, b=math.inf, c=-math.inf, d=True)), tmp_path)
    assert found.rows == [(1, {"d": 1.0})]
    assert sorted(found.odd) == [(1, "a", "nan"), (1, "b", "inf"), (1, "c", "-inf")]


def test_names_in_parts_and_dicts_are_named_as_w_and_b_shows_them(tmp_path: Path) -> None:
    parts = item("", "0.5", nested=("outer", "inner"))
    found = read(framed(history(1, parts, d={"e": {"f": 2}})), tmp_path)
    assert found.rows == [(1, {"outer.inner": 0.5, "d.e.f": 2.0})]


def test_long_names_and_values_are_read(tmp_path: Path) -> None:
    name, value = "n" * 300, "0." + "1" * 200
    found = read(framed(history(1, item(name, value), item("m", value), item("k" * 127, "2"))), tmp_path)
    assert found.rows == [(1, {name: float(value), "m": float(value), "k" * 127: 2.0})]


def test_the_step_field_counts_where_no_item_states_it(tmp_path: Path) -> None:
    record = field(2, field(1, item("a", "1")) + field(2, field(1, 9)))
    first = field(2, field(1, item("a", "2")) + field(2, b""))
    assert read(framed(first, record), tmp_path).rows == [(0, {"a": 2.0}), (9, {"a": 1.0})]


def test_history_without_a_step_is_told(tmp_path: Path) -> None:
    found = read(framed(field(2, field(1, item("a", "1")))), tmp_path)
    assert (found.rows, found.kinds) == ([], ["no-step"])


def test_tables_and_pictures_are_references_and_told_once(tmp_path: Path) -> None:
    table = {"_type": "table-file", "ncols": 3, "path": "media/table/t.json"}
    flat = [item("", json.dumps(v), nested=("val/generations", k)) for k, v in table.items()]
    found = read(framed(*(history(step, *flat, image=table, a=1) for step in (1, 2))), tmp_path)
    assert found.rows == [(1, {"a": 1.0}), (2, {"a": 1.0})]
    assert found.kinds == ["unsupported", "unsupported"]
    assert "image (table-file, 2 times)" in found.problems[0].message
    assert "val/generations (table-file, 2 times)" in found.problems[1].message


def test_text_in_history_is_left_out_and_told(tmp_path: Path) -> None:
    found = read(framed(history(1, a=1, b="done")), tmp_path)
    assert found.rows == [(1, {"a": 1.0})]
    assert found.kinds == ["not-a-number"]
    assert "b (str, 1 records, first in record 1)" in found.problems[0].message


def test_configuration_is_flat_and_later_changes_win(tmp_path: Path) -> None:
    start = config(17, trainer={"project_name": "p", "n": 8, "x": None}, lr=1e-6, _wandb={"t": 1})
    found = read(framed(start, config(trainer={"n": 16}, use_kl=True)), tmp_path)
    assert found.config == {
        "trainer.project_name": "p", "trainer.n": "16", "trainer.x": "None", "lr": "1e-06", "use_kl": "True"
    }  # fmt: skip


def test_project_code_and_machine_are_facts(tmp_path: Path) -> None:
    run = field(
        17, field(1, "abc") + field(3, "gsm8k") + field(8, "grpo-1") + field(17, timestamp(1_700_000_000))
    )
    git = field(1, "https://example.org/r.git") + field(2, "3aca69b3b4cb")
    environment = field(
        26,
        field(2, "CPython 3.11.7") + field(5, "trainer.n=8") + field(6, "-m verl") + field(9, git)
        + field(12, "host") + field(10, "a@example.org") + field(18, "NVIDIA A800-SXM4-40GB") + field(19, 8),
    )  # fmt: skip
    version = field(21, field(1, field(1, "0.23.0+da47")))
    assert read(framed(version, run, environment), tmp_path).facts == {
        "wandb_version": "0.23.0", "wandb_run": "abc", "project": "gsm8k", "experiment": "grpo-1",
        "first_time": "1700000000.0", "python": "CPython 3.11.7", "commit": "3aca69b3b4cb",
        "remote": "https://example.org/r.git", "gpu": "A800", "gpus": "8",
        "command": "python -m verl trainer.n=8",
    }  # fmt: skip


def test_a_ray_worker_is_no_command(tmp_path: Path) -> None:
    environment = field(26, field(6, "/x/ray/default_worker.py") + field(5, "--node=1"))
    assert read(framed(environment), tmp_path).facts == {}


@pytest.mark.parametrize(("code", "level"), [(0, "info"), (1, "error"), (-9, "error")])
def test_the_exit_is_a_line_of_the_log(code: int, level: str, tmp_path: Path) -> None:
    found = read(
        framed(history(5, a=1), field(18, (field(1, code) if code else b"") + field(2, 60))), tmp_path
    )
    (line,) = found.log
    assert (line.kind, line.level, line.step, line.line) == ("exit", level, 5, 2)
    assert f"exit code {code} after 60 s" in line.text


def test_what_w_and_b_dropped_is_told(tmp_path: Path) -> None:
    words = "wandb: WARNING Tried to log to step 38 that is less than the current step 40. Steps must\n"
    found = read(framed(history(40, a=1), printed(words), printed(words.replace("38", "39"))), tmp_path)
    (problem,) = found.problems
    assert problem.kind == "lost"
    assert "steps 38, 39" in problem.message and "step 40" in problem.message


def test_samples_of_the_machine_are_told_once(tmp_path: Path) -> None:
    found = read(framed(*[field(7, field(2, timestamp(1)))] * 3, history(1, a=1)), tmp_path)
    assert (found.kinds, found.steps) == (["left-out"], [1])
    assert "3 readings" in found.problems[0].message


CRASH = ["Traceback (most recent call last):\n", '  File "t.py", line 1, in f\n', "ValueError: ", "bad\n"]


def test_printed_lines_are_read_where_no_output_log_lies_beside(tmp_path: Path) -> None:
    step_line = printed("step:1 - a:0.500\n")
    records = [history(1, a=0.50001), step_line, *map(printed, CRASH)]
    found = read(framed(*records), tmp_path)
    assert found.rows == [(1, {"a": 0.50001})], "history has the digits that the console lost"
    assert [(line.kind, line.line) for line in found.log] == [("traceback", 5)]
    assert "ValueError: bad" in found.log[0].text


@pytest.mark.parametrize("place", ["files/output.log", "files/output.log.gz", "output.log"])
def test_printed_lines_are_left_to_the_output_log(place: str, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / place).write_text("whatever is in it")
    assert read(framed(history(1, a=1), *map(printed, CRASH)), tmp_path).log == []


def test_a_log_of_another_version_is_read_and_told(tmp_path: Path) -> None:
    found = read(framed(history(1, a=1), header=b":W&B\xe1\xbe\x01"), tmp_path)
    assert (found.steps, found.kinds) == ([1], ["unreadable"])


def test_a_log_with_nothing_in_it_says_so(tmp_path: Path) -> None:
    assert read(HEADER, tmp_path).kinds == ["empty"]


# --- damage ----------------------------------------------------------------------------------

PAD = item("_pad", json.dumps("x" * 9000))  # a few records fill a block
GOOD = [history(step, PAD, a=step) for step in range(1, 13)]
ROWS = [(step, {"a": float(step)}) for step in range(1, 13)]


def place(i: int) -> int:
    """Where record `i` begins."""
    return framed(*GOOD).index(GOOD[i][:40])


def test_records_cross_blocks(tmp_path: Path) -> None:
    found = read(framed(*GOOD), tmp_path)
    assert len(framed(*GOOD)) > 3 * BLOCK
    assert (found.rows, found.kinds) == (ROWS, ["not-a-number"])


def test_a_torn_tail_keeps_what_precedes_and_names_the_byte(tmp_path: Path) -> None:
    found = read(framed(*GOOD)[:-5], tmp_path)
    assert found.rows == ROWS[:-1]
    problem = next(p for p in found.problems if p.kind == "truncated")
    assert f"byte {place(11) - 7}" in problem.message


def test_a_log_that_ends_with_a_block_within_a_record_is_torn(tmp_path: Path) -> None:
    found = read(framed(*GOOD)[:BLOCK], tmp_path)
    assert found.rows == ROWS[:3]
    assert "truncated" in found.kinds


def test_a_damaged_record_is_left_out_and_reading_goes_on_behind_it(tmp_path: Path) -> None:
    data = bytearray(framed(*GOOD))
    data[place(1) + 100] ^= 1
    found = read(bytes(data), tmp_path)
    assert found.rows == [ROWS[0], *ROWS[2:]]
    problem = next(p for p in found.problems if p.kind == "damaged")
    assert f"from byte {place(1) - 7} to byte {place(2) - 7}" in problem.message


def test_behind_a_damaged_length_reading_goes_on_at_the_next_block(tmp_path: Path) -> None:
    data = bytearray(framed(*GOOD))
    data[place(1) - 2] ^= 0x7F
    found = read(bytes(data), tmp_path)
    whole = [row for i, row in enumerate(ROWS) if place(i) > BLOCK]
    assert found.rows == [ROWS[0], *whole], "the piece that begins the next block belongs to a lost record"
    assert "damaged" in found.kinds


def test_a_block_of_zeros_is_one_damaged_place(tmp_path: Path) -> None:
    data = framed(*GOOD)
    found = read(data[:BLOCK] + bytes(BLOCK) + data[2 * BLOCK :], tmp_path)
    assert found.rows[:3] == ROWS[:3] and found.rows[-1] == ROWS[-1]
    assert len([p for p in found.problems if p.kind == "damaged"]) == 1


def test_a_sound_record_that_makes_no_sense_is_told(tmp_path: Path) -> None:
    found = read(framed(history(1, a=1), b"\x12\xff", history(2, a=2)), tmp_path)
    assert found.steps == [1, 2]
    assert found.kinds == ["malformed"]


def test_a_record_longer_than_any_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.ingest.leveldb_log.MAX_RECORD", 2 * BLOCK)
    found = read(framed(history(1, a=1), field(3, bytes(5 * BLOCK)), history(2, a=2)), tmp_path)
    assert (found.steps, found.kinds) == ([1, 2], ["too-long"])


anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@anywhere
@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=5))
def test_flipped_bits_change_no_value(flips: list[tuple[int, int]], tmp_path: Path) -> None:
    data = bytearray(framed(*GOOD))
    for at, mask in flips:
        data[at % len(data)] ^= mask
    found = read(bytes(data), tmp_path)
    first = min(at % len(data) for at, _ in flips)
    before = [row for i, row in enumerate(ROWS) if i + 1 < len(ROWS) and place(i + 1) <= first]
    assert found.rows[: len(before)] == before
    assert all(row in ROWS for row in found.rows)


@anywhere
@given(end=st.integers(0, len(framed(*GOOD))))
def test_a_log_cut_anywhere_keeps_its_whole_records(end: int, tmp_path: Path) -> None:
    whole = [
        i for i in range(len(GOOD)) if (place(i + 1) - 7 if i + 1 < len(GOOD) else len(framed(*GOOD))) <= end
    ]
    assert read(framed(*GOOD)[:end], tmp_path).rows == [ROWS[i] for i in whole]


@anywhere
@given(data=st.binary(max_size=300), kind=st.sampled_from([2, 5, 13, 17, 18, 21, 26]))
def test_whatever_a_record_holds_nothing_is_raised(data: bytes, kind: int, tmp_path: Path) -> None:
    found = read(framed(data, field(kind, data), field(kind, field(1, data)), history(1, a=1)), tmp_path)
    assert found.steps[-1:] == [1]


# --- files beside the log --------------------------------------------------------------------


def beside(name: str, words: str, folder: Path) -> Reading:
    file = folder / name
    file.write_text(words)
    source = Source(f"wandb/run-20260101_000000-abc/files/{name}", file)
    assert wandb_files.sniff(source.path, words.encode())
    return gathered(wandb_files.read(source))


CONFIG = """\
_wandb:
    value:
        cli_version: 0.23.0
trainer:
    desc: null
    value:
        project_name: p
        logger: [console, wandb]
        balance: true
lr:
    value: 1e-06
"""


def test_the_configuration_file(tmp_path: Path) -> None:
    assert beside("config.yaml", CONFIG, tmp_path).config == {
        "trainer.project_name": "p", "trainer.logger": "['console', 'wandb']", "trainer.balance": "True",
        "lr": "1e-06",
    }  # fmt: skip


@pytest.mark.parametrize("bad", ["_wandb:\n    value: &a [x]\nb:\n    value: *a\n", CONFIG + "x: [", "\t"])
def test_a_configuration_that_cannot_be_read_is_told(bad: str, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(bad if bad != "\t" else "_wandb:\n    value: 1\n\t- x\n")
    assert gathered(wandb_files.read(Source("files/config.yaml", file))).kinds == ["malformed"]


def test_the_metadata_file(tmp_path: Path) -> None:
    words = {
        "os": "Linux", "python": "CPython 3.10.19", "startedAt": "2025-11-30T06:48:22.675144Z",
        "program": "main_ppo.py", "args": ["trainer.n=8"], "host": "h", "email": "a@example.org",
        "git": {"remote": "git@example.org:r", "commit": "abcdef123456"}, "executable": "python",
        "gpu": "NVIDIA H100 80GB HBM3", "gpu_count": 8,
    }  # fmt: skip
    assert beside("wandb-metadata.json", json.dumps(words), tmp_path).facts == {
        "commit": "abcdef123456", "remote": "git@example.org:r", "python": "CPython 3.10.19", "gpu": "H100",
        "gpus": "8", "first_time": "1764485302.675144", "command": "python main_ppo.py trainer.n=8",
    }  # fmt: skip


def test_versions_of_the_requirements(tmp_path: Path) -> None:
    words = "colorama==0.4.6\nverl==0.7.0.dev0\ntorch==2.6.0+cu124\nvllm==0.8.5\nverl-extra==1\n"
    assert beside("requirements.txt", words, tmp_path).facts == {
        "verl_version": "0.7.0.dev0", "torch_version": "2.6.0+cu124", "vllm_version": "0.8.5"
    }  # fmt: skip


def test_the_summary_is_no_step_record(tmp_path: Path) -> None:
    found = beside("wandb-summary.json", '{"_step": 9, "a": 1, "_wandb": {"runtime": 5}}', tmp_path)
    assert (found.rows, found.problems) == ([], [])


# --- W&B itself, and real files --------------------------------------------------------------


def test_what_wandb_writes_offline_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(
        mode="offline", dir=tmp_path, project="proj", name="exp", config={"trainer": {"n": 8}},
        settings=wandb.Settings(disable_git=True, x_disable_stats=True, console="off"),
    )  # fmt: skip
    truth = {step: {"a": 0.1 * step, "val-core/x@4": 1 / (step + 1)} for step in range(300)}
    for step, values in truth.items():
        run.log(values, step=step)
    run.log({"odd": math.nan, "big": math.inf}, step=300)
    run.finish()
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    found = gathered(wandb_log.read(Source(file.name, file)))
    for _ in range(60):  # on a busy machine `finish` comes back before W&B's own process has written the rest
        if found.steps[-1:] == [300]:
            break
        time.sleep(0.5)
        found = gathered(wandb_log.read(Source(file.name, file)))
    assert found.rows == [*truth.items(), (300, {})]
    assert sorted(found.odd) == [(300, "big", "inf"), (300, "odd", "nan")]
    assert found.config == {"trainer.n": "8"}
    assert (found.facts["project"], found.facts["experiment"]) == ("proj", "exp")
    assert found.problems == []


@pytest.mark.corpus
def test_a_real_log_is_the_history_that_was_exported_from_it(corpus: Path) -> None:
    (file,) = corpus.glob("wandb/run-*/run-*.wandb")
    truth = corpus / "logs" / "101-opd-gjvwlq13-wandbhistory.jsonl"
    found = gathered(wandb_log.read(Source(file.name, file)))
    expected = gathered(filelogger.read(Source(truth.name, truth)))
    table = "val/generations/"  # what the reference to a table says of its size is no metric
    metrics = [(s, {n: v for n, v in row.items() if not n.startswith(table)}) for s, row in expected.rows]
    assert found.rows == metrics
    assert (found.odd, expected.odd) == ([], [])
    assert len(found.rows) == 59
    assert found.kinds == ["left-out", "truncated"]


@pytest.mark.corpus
def test_a_run_of_verl_has_every_value_of_its_file_logger_but_what_w_and_b_dropped(corpus: Path) -> None:
    """Steps 38 and 39 were logged again after a resume at a step below the newest: W&B keeps the first."""
    (file,) = corpus.glob("trackers/wandb/wandb/offline-run-*/run-*.wandb")
    (truth,) = corpus.glob("trackers/file/demo_proj/*.jsonl")
    found = gathered(wandb_log.read(Source(file.name, file)))
    expected = gathered(filelogger.read(Source(truth.name, truth)))
    first: dict[int, dict[str, float]] = {}
    for step, values in expected.rows:
        if step not in first or step == 40:
            first[step] = {**first.get(step, {}), **values}
    assert found.rows == sorted(first.items())
    assert sorted(found.odd) == [
        (17, "actor/grad_norm", "nan"), (23, "actor/pg_loss", "-inf"), (23, "actor/ppo_kl", "inf")
    ]  # fmt: skip
    assert "steps 38, 39" in next(p for p in found.problems if p.kind == "lost").message
