"""Console logs beyond their oddities: what is recognised, facts, exactness, robustness."""

from __future__ import annotations

import math
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.ingest import console, marks
from sitegen.ingest.source import Source
from tests.ingest.reading import Reading, Text, gathered, reading

# --- what is a console log -----------------------------------------------------------------

RAY = "\x1b[36m(TaskRunner pid=12)\x1b[0m "


@pytest.mark.parametrize(
    "text",
    [
        "step:1 - actor/lr:0.5\n",
        "prose\n" * 50 + "step:1 - train/loss:0.5\n",
        "(TaskRunner pid=15, ip=10.0.0.1) step:1\n - actor/lr:0.5\n",
        ":job_id:01000000\n:actor_name:TaskRunner\nwords\n",
        RAY + "anything\n",
        "2024-12-10 06:50:29,276\tINFO worker.py:1752 -- Started a local Ray instance.\n",
        "wandb: Detected [openai] in use.\nnoise\n",
        "Using LocalLogger is deprecated. The constructor API will change\n" + "words\n" * 3000,
        "Checkpoint tracker file does not exist: /c/latest.txt\nTraining from scratch\n",
        "\"Initial validation metrics: {'val/x': 0.5}\"\n",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n',
        "+ python3 -m verl.trainer.main_ppo data.train_files=x\n",
        "Training Progress:   0%|          | 0/435 [00:00<?, ?it/s]\n",
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2025-01-01T00:00:00 ***\n",
        "<|im_start|>user\nAdd 3 and 4.<|im_end|>\n",
        '{"log":"(TaskRunner pid=1) step:1 - actor/lr:0.5\\n","stream":"stdout"}\n',
        '[METRIC] {"step": 3, "reward_mean": 0.5}\n',
    ],
)
def test_output_of_a_run_is_recognised(text: str) -> None:
    assert console.sniff("anything", text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "torch==2.6.0\nvllm==0.8.4\nverl @ file:///x\n",
        "trainer:\n  logger: [console]\n  total_epochs: 15\ndata:\n  train_files: x\n",
        "# verl\n\nTraining prints `step:1 - ...`. If you see CUDA out of memory, lower the batch.\n",
        "| case | line |\n|---|---|\n| resume | `Setting global step to 105` |\n",
        "#!/bin/bash\nset -x\npython3 -m verl.trainer.main_ppo \\\n  data.train_files=x \\\n",
        "import re\n\ndef parse(line):\n    return line\n\n# Traceback (most recent call last):\n",
        "2025-11-30 14:48:22,123 INFO    MainThread:2451 [wandb_setup.py:_flush():81] SDK version is 0.22\n",
        '{"time":"2025-11-30T14:48:22Z","level":"INFO","msg":"stream: starting"}\n',
        "\x00\x01\x02\x03" * 500,
        "",
        "   \n",
    ],
)
def test_other_files_are_not(text: str) -> None:
    assert not console.sniff("train.log", text.encode())


# --- facts ---------------------------------------------------------------------------------


def test_facts_that_a_log_mentions_are_kept() -> None:
    text = (
        "commit:\n50ac7252f97cf39997344237bca74162b2dc6d79\n\ncommand:\n```bash\n"
        'bash run.sh "trainer.n_gpus_per_node=1 data.train_batch_size=256" trainer.experiment_name=x\n```\n'
        "Successfully installed verl-0.4.1\nName: NVIDIA H100 80GB HBM3\n"
        "(WorkerDict pid=1) device memory used/total (GB): 0.32/79.11\nTotal training steps: 105\n"
        "(TaskRunner pid=2) TaskRunner hostname: node17, PID: 2279089\n"
    )
    found = reading(text)
    wanted = {
        "commit": "50ac7252f97cf39997344237bca74162b2dc6d79",
        "verl_version": "0.4.1",
        "gpu": "H100",
        "gpu_memory_gb": "79.11",
        "planned_steps": "105",
    }
    assert {key: found.facts.get(key) for key in wanted} == wanted
    assert found.facts["command"].startswith("bash run.sh")
    assert not any("node17" in value for value in found.facts.values())
    assert found.config["data.train_batch_size"] == "256"
    assert found.config["trainer.experiment_name"] == "x"


def test_the_exit_code_is_a_fact() -> None:
    found = reading("step:1 - actor/lr:0.5\nsrun: error: n1: task 0: Exited with exit code 7\n")
    assert found.facts["exit_code"] == "7"
    assert [(line.kind, line.level) for line in found.log] == [("exit", "error")]


def test_a_second_start_in_the_same_file_is_a_second_attempt() -> None:
    start = (
        "2025-01-0{} 10:00:00,000\tINFO worker.py:1 -- Started a local Ray instance.\nTraining from scratch\n"
    )
    text = start.format(1) + "step:1 - actor/lr:0.5\n" + start.format(2) + "step:1 - actor/lr:0.5\n"
    assert reading(text).facts["attempts"] == "2"


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2024-12-10 06:50:29,276\tINFO", 1733813429.276),
        ("[2024-12-10 06:50:29,276 E 1 2]", 1733813429.276),
        ("INFO:2024-12-10 06:50:29,276:", 1733813429.276),
        ("2024-12-10T06:50:29Z", 1733813429.0),
        ("2024-12-10T08:50:29+02:00", 1733813429.0),
        ("2024-12-10 06:50:29", 1733813429.0),
        ("2024-13-40 06:50:29", math.nan),
    ],
)
def test_a_time_stamp_at_the_start_of_a_line_dates_what_follows(stamp: str, seconds: float) -> None:
    (time,) = reading(f"{stamp} words\nstep:1 - actor/lr:0.5\n").times
    assert time == seconds or (math.isnan(time) and math.isnan(seconds))


# --- marked console lines ------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        '[METRIC] {"step": 120, "epoch": 3, "reward_mean": 1.87}',
        '2025-01-01 10:00:00 [METRIC] {"step": 120, "epoch": 3, "reward_mean": 1.87}',
        "[INFO] step 120 | epoch=3 | reward_mean=1.87",
        "[INFO] Step: 120, epoch: 3, reward_mean: 1.87",
        "[INFO] [step=120] epoch=3 reward_mean=1.87",
    ],
)
def test_marked_lines_are_records(line: str) -> None:
    assert reading(line + "\n").rows == [(120, {"epoch": 3.0, "reward_mean": 1.87})]


@pytest.mark.parametrize(
    "line", ["[INFO] saved at step 120", "[INFO] reward_mean=1.87 kl=0.1", "[METRIC] {broken"]
)
def test_marked_lines_without_step_and_numbers_are_not(line: str) -> None:
    assert reading(line + "\n").rows == []


# --- chunks --------------------------------------------------------------------------------


def test_a_long_log_comes_in_several_batches_that_lose_nothing() -> None:
    text = "".join(f"step:{s} - actor/lr:{s}.5 - actor/kl:0.25\n" for s in range(5000))
    rows = [b.rows for b in console.read(cast(Source, Text(text.encode()))) if b.rows is not None]
    assert len(rows) >= 3
    assert max(len(r.steps) for r in rows) <= 2001
    found = reading(text)
    assert found.steps == list(range(5000))
    assert [values["actor/lr"] for _, values in found.rows] == [s + 0.5 for s in range(5000)]
    assert found.lines == list(range(1, 5001))


def test_a_wrap_at_the_border_of_two_batches_is_still_joined() -> None:
    head = "".join(f"step:{s} - actor/lr:0.5 - actor/kl:0.25\n" for s in range(2000))
    found = reading(head + "- actor/x:0.5\nnext\n")
    assert found.rows[1999] == (1999, {"actor/lr": 0.5, "actor/kl": 0.25, "actor/x": 0.5})
    assert len(found.rows) == 2000


def test_layouts_may_alternate() -> None:
    lines = []
    for s in range(60):
        lines.append(
            f"step:{s} - actor/lr:{s}.5" + (" - val-core/x:0.5" if s % 5 == 0 else "") + " - perf/mfu:1"
        )
    found = reading("\n".join(lines) + "\n")
    assert found.rows[10] == (10, {"actor/lr": 10.5, "val-core/x": 0.5, "perf/mfu": 1.0})
    assert found.rows[59] == (59, {"actor/lr": 59.5, "perf/mfu": 1.0})


# --- exactness and robustness --------------------------------------------------------------

SEGMENT = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ_0123456789@.-", min_size=1, max_size=12)
NAMES = st.builds(
    lambda a, rest: "/".join([f"m{a}", *rest]), SEGMENT, st.lists(SEGMENT, min_size=1, max_size=4)
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
RECORDS = st.dictionaries(NAMES, FINITE, min_size=1, max_size=8)


@given(RECORDS, st.integers(0, 10**9), st.booleans(), st.sampled_from(["", RAY]))
def test_what_verl_prints_reads_back_exactly(
    values: dict[str, float], step: int, wrapped: bool, prefix: str
) -> None:
    form = "np.float64({!r})" if wrapped else "{!r}"
    line = f"{prefix}step:{step} - " + " - ".join(f"{n}:{form.format(v)}" for n, v in values.items())
    found = reading((line + "\n") * 15)
    assert found.rows == [(step, values)] * 15
    assert found.problems == []


@given(RECORDS, st.integers(1, 10**6))
def test_three_decimals_read_back_as_printed(values: dict[str, float], step: int) -> None:
    small = {n: math.fmod(v, 1000.0) for n, v in values.items()}
    line = f"step:{step} - " + " - ".join(f"{n}:{v:.3f}" for n, v in small.items())
    assert reading(line + "\n").rows == [(step, {n: float(f"{v:.3f}") for n, v in small.items()})]


@settings(max_examples=200)
@given(st.binary(max_size=2000))
def test_random_bytes_never_raise(raw: bytes) -> None:
    console.sniff("x", raw)
    reading(raw)


WORDS = st.sampled_from(
    [
        "step:1 - actor/lr:0.5", "step:2", " - actor/kl:0.25", "actor/x:1 - ", "/y:2 - perf/z:", "6", "0.5",
        "\x1b[36m(TaskRunner pid=1)\x1b[0m ", "(W pid=2) ", "\r", "\n", "\n", "\n", " ", "np.float64(", ")",
        "{'actor_rollout_ref': {'a': 1,", "'b': [1, 'x'}", "}}", "Traceback (most recent call last):\n",
        '  File "a.py", line 1, in f\n', "ValueError: x\n", "(\"Initial validation metrics: {'a': \"\n",
        ' "0.5}")\n', "Final validation metrics: None\n", "[METRIC] {\"step\": 1}\n",
        "command:\n", "python -m verl \\\n",
        "[repeated 3x across cluster]", "\\u001b[36m", '{"log": "', '"}', "Setting global step to 5\n",
        "\0", "é", "模",
    ]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=40).map("".join))
def test_torn_and_mixed_logs_never_raise(text: str) -> None:
    console.sniff("x", text.encode())
    found = reading(text)
    assert all(math.isfinite(v) for _, values in found.rows for v in values.values())


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=40).map("".join))
def test_skipping_over_text_gives_what_reading_every_line_gives(text: str) -> None:
    lines = text.split("\n")
    torn = not text.endswith("\n")
    numbered = list(enumerate(lines if torn else lines[:-1], 1))
    by_line = gathered(console.read_lines(numbered, "run/train.log", torn=torn and bool(lines[-1])))
    whole = reading(text)
    for found in (by_line, whole):
        found.times.clear()
    assert _shown(by_line) == _shown(whole)


def _shown(found: Reading) -> tuple[object, ...]:
    return found.rows, found.lines, found.odd, found.cut, found.log, found.config, found.problems


def test_every_sign_has_a_mark_that_finds_its_line() -> None:
    lines = [line.encode() for line in SIGNS]
    assert [lines[i] for i in marks.search(lines).marked] == lines


SIGNS = (
    "ray.exceptions.OutOfMemoryError: Task was killed",
    "(raylet) 1 Workers killed due to memory pressure (OOM)",
    "Memory on the node was 250GB / 251GB, which exceeds the memory usage threshold of 0.95. Ray killed it",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.78 GiB",
    "[rank0]:[E ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(",
    "OSError: [Errno 28] No space left on device",
    "[2025-08-10 22:43:27,018 E 1 2] /tmp/ray is over 95% full",
    "*** SIGTERM received at time=1780487418 on cpu 145 ***",
    "SignalException: Process 5 got signal: 15",
    "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2025-01-01T00:00:00 DUE TO TIME LIMIT ***",
    "KeyboardInterrupt",
    "ray.exceptions.ActorDiedError: The actor died unexpectedly",
    "run.sh: line 12:  4711 Killed                  python3 -m x",
    "exitcode  : -9 (pid: 3)",
    "WARN: rank 0 grad_norm is not finite: nan",
    "Setting global step to 100",
    "Resuming from /c/global_step_100",
    "Found checkpoint: /c/global_step_100",
    "local_global_step_folder: /c/global_step_50",
    "Saved model to /c/global_step_50/model.pt",
    "Final validation metrics: {'a': 1}",
    "Training Progress: 100%|##| 5/5 [00:10<00:00, 2.0s/it]",
    "Error executing job with overrides: ['a.b=1']",
    "srun: error: n1: task 0: Exited with exit code 1",
    "ERROR conda.cli.main_run:execute(49): failed",
    "Training from scratch",
    "(Pdb) ",
)
