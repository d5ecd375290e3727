"""Lines kept for diagnosis: what they are, whether the run lived on, and that their number is bounded."""

from __future__ import annotations

import pytest

from sitegen.ingest import diagnosis
from tests.ingest.reading import reading


def crash(exception: str, speaker: str = "") -> str:
    lines = (
        "Traceback (most recent call last):",
        '  File "/home/u/verl/trainer/main_ppo.py", line 40, in main',
        "    run_ppo(config)",
        "    ^^^^^^^^^^^^^^^",
        '  File "/home/u/verl/workers/actor.py", line 483, in update',
        "    loss.backward()",
        exception,
    )
    return "".join(f"{speaker}{line}\n" for line in lines)


STEP = "step:{} - actor/lr:0.5\n"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.78 GiB."


@pytest.mark.parametrize(
    ("line", "kind", "level"),
    [
        (OOM, "cuda_oom", "critical"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "cuda_oom", "critical"),
        ("RuntimeError: CUDA error: out of memory", "cuda_oom", "critical"),
        ("RuntimeError: NPU out of memory. Tried to allocate", "cuda_oom", "critical"),
        ("ray.exceptions.OutOfMemoryError: Task was killed due to low memory", "host_oom", "critical"),
        ("(raylet) 1 Workers killed due to memory pressure (OOM)", "host_oom", "critical"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=12.0", "host_oom", "critical"),
        ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=26)", "nccl_timeout", "critical"),
        ("Some NCCL operations have failed or timed out.", "nccl_timeout", "critical"),
        ("ray.exceptions.ActorDiedError: The actor died unexpectedly", "actor_died", "critical"),
        ("(raylet) A worker died or was killed while executing a task", "actor_died", "critical"),
        ("OSError: [Errno 28] No space left on device", "disk", "error"),
        ("file_system_monitor.cc:116: /tmp/ray is over 95% full, available space: 9 GB", "disk", "warning"),
        ("*** SIGTERM received at time=1780487418 on cpu 145 ***", "sigterm", "error"),
        ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-01-01T00:00:00 ***", "sigterm", "error"),
        ("KeyboardInterrupt", "sigterm", "error"),
        ("run.sh: line 12:  4711 Killed                  python3 -m verl", "killed", "critical"),
        ("exitcode  : -9 (pid: 4711)", "killed", "critical"),
        ("WARN: rank 0 grad_norm is not finite: nan", "nan_guard", "warning"),
        ("Found checkpoint: /c/global_step_10", "checkpoint_found", "info"),
        ("Resuming from /c/global_step_10", "resumed", "info"),
        ("[Rank 0] Saved model to /c/global_step_10/actor/model.pt", "checkpoint_saved", "info"),
        ("local_global_step_folder: /c/global_step_50", "checkpoint_saved", "info"),
        ("Error executing job with overrides: ['a.b=1']", "exit", "error"),
        ("srun: error: n1: task 0: Exited with exit code 1", "exit", "error"),
        ("got exit code: 0", "exit", "info"),
        ("Training finished", "finished", "info"),
    ],
)  # fmt: skip
def test_a_line_says_what_happened(line: str, kind: str, level: str) -> None:
    sign = diagnosis.classify(line)
    assert sign is not None
    assert (sign.kind, sign.level) == (kind, level)


@pytest.mark.parametrize(
    "line",
    [
        "The image processor is loaded even if the model checkpoint was saved with a slow processor.",
        "wandb: uploading data; updating run metadata",
        "Before critic FSDP, memory allocated (GB): 0.00",
        "I killed the process of elimination and died laughing",
        "ray init kwargs: {'nccl_timeout': 600}",
        "trial 2: filter out 19 samples from 32 samples",
        "NCCL version 2.21.5+cuda12.4",
        "RayTaskError(OutOfMemoryError): wrapped",
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert diagnosis.classify(line) is None


def test_a_traceback_is_folded_to_its_exception_and_the_innermost_frames() -> None:
    (line,) = reading(STEP.format(3) + crash("ValueError: bad batch")).log
    assert (line.kind, line.level, line.line, line.step) == ("traceback", "error", 8, 3)
    assert line.text == (
        "ValueError: bad batch\n  at workers/actor.py:483 in update; trainer/main_ppo.py:40 in main"
    )


def test_tracebacks_of_several_workers_are_not_mixed_up() -> None:
    first = crash("ValueError: one", "(W pid=1) ").splitlines(keepends=True)
    second = crash("KeyError: 'two'", "(W pid=2) ").splitlines(keepends=True)
    mixed = "".join(line for pair in zip(first, second, strict=True) for line in pair)
    assert [line.text.split("\n")[0] for line in reading(mixed).log] == ["ValueError: one", "KeyError: 'two'"]


def test_an_exception_that_names_a_cause_has_the_kind_of_that_cause() -> None:
    (line,) = reading(STEP.format(3) + crash(OOM)).log
    assert (line.kind, line.level) == ("cuda_oom", "critical")


def test_a_traceback_that_the_file_ends_in_is_kept() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n'
    (line,) = reading(text).log
    assert (line.kind, line.level) == ("traceback", "error")
    assert "a.py:3 in f" in line.text


def test_what_rays_unhandled_error_says_is_folded_too() -> None:
    text = (
        "Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::WorkerDict.update() (pid=1)\n"
        '  File "/x/actor.py", line 483, in update_policy\n    loss.backward()\n' + OOM + "\n"
    )
    (line,) = reading(text).log
    assert (line.kind, line.line) == ("cuda_oom", 4)


RAY = (
    'Traceback (most recent call last):\n  File "/x/main_ppo.py", line 31, in main\n    run_ppo(config)\n'
    "RayTaskError(RuntimeError): ray::TaskRunner.run() (pid=7, ip=10.0.0.1, repr=<T at 0x7f>)\n"
    '  File "/x/trainer/ray_trainer.py", line 9, in fit\n    self._save_checkpoint()\n'
    "RayTaskError(RuntimeError): ray::WorkerDict.actor_save_checkpoint() (pid=8, ip=10.0.0.1)\n"
    '  File "/x/verl/workers/fsdp.py", line 12, in save_checkpoint\n    torch.save(state)\n'
)


def test_an_exception_that_ray_brought_from_a_worker_is_the_workers() -> None:
    (line,) = reading(STEP.format(3) + RAY + "RuntimeError: basic_ios::clear: iostream error\n").log
    assert (line.kind, line.line) == ("traceback", 11)
    assert line.text.startswith("RuntimeError: basic_ios::clear: iostream error\n")
    assert "save_checkpoint" in line.text


def test_a_log_cut_inside_what_ray_brought_names_the_exception_that_ray_named() -> None:
    (line,) = reading(STEP.format(3) + RAY).log
    assert line.text.startswith("RayTaskError(RuntimeError): ray::WorkerDict.actor_save_checkpoint()")


def test_frames_behind_the_name_of_a_task_need_no_header() -> None:
    text = (
        "Error: ray::TaskRunner.run() (pid=7, ip=10.0.0.1, actor_id=6560)\n"
        '  File "/x/main_ppo.py", line 192, in run\n    if config.reward_model.enable:\n'
        "omegaconf.errors.ConfigAttributeError: Missing key enable\n    full_key: reward_model.enable\n"
    )
    (line,) = reading(text).log
    assert (line.kind, line.level, line.line) == ("traceback", "error", 4)


def test_a_traceback_of_which_only_the_first_line_is_marked_is_whole() -> None:
    head, *rest = crash("RuntimeError: failed to import").splitlines(keepends=True)
    (line,) = reading(f"(raylet) {head}{''.join(rest)}").log
    assert line.text.startswith("RuntimeError: failed to import\n  at workers/actor.py:483 in update")


def test_the_name_of_a_task_alone_is_no_traceback() -> None:
    assert (
        reading(STEP.format(3) + "waiting for ray::WorkerDict.update() (pid=8, ip=10.0.0.1)\nstill\n").log
        == []
    )


# --- did it end the run --------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "text"), [("cuda_oom", crash(OOM)), ("traceback", crash("ValueError: x"))])
def test_steps_logged_afterwards_make_a_fault_a_warning(kind: str, text: str) -> None:
    found = reading(STEP.format(3) + text + STEP.format(4))
    assert [(line.kind, line.level) for line in found.log] == [(kind, "warning")]


def test_steps_of_a_new_start_do_not() -> None:
    start = (
        "2025-01-01 10:00:00,000\tINFO worker.py:1 -- Started a local Ray instance.\nTraining from scratch\n"
    )
    found = reading(start + STEP.format(3) + crash(OOM) + start + STEP.format(1))
    assert [line.level for line in found.log if line.kind == "cuda_oom"] == ["critical"]


def test_a_logged_exception_was_handled() -> None:
    found = reading(
        STEP.format(3)
        + "ERROR:2026-09-17 20:30:18,456:Error comparing zoo and zoo\n"
        + crash("ValueError: x")
    )
    assert [(line.kind, line.level) for line in found.log] == [("traceback", "warning")]


def test_what_comes_after_the_end_did_not_end_the_run() -> None:
    bar = "Training Progress: 100%|####| 3/3 [00:30<00:00, 10.0s/it]\n"
    found = reading(
        STEP.format(3)
        + bar
        + crash("RuntimeError: teardown")
        + "*** SIGTERM received at time=1780487418 on cpu 1 ***\n"
    )
    assert [(line.kind, line.level) for line in found.log] == [
        ("finished", "info"),
        ("traceback", "info"),
        ("sigterm", "info"),
    ]  # fmt: skip


def test_a_nan_guard_stays_a_warning() -> None:
    found = reading(STEP.format(3) + "WARN: rank 0 grad_norm is not finite: nan\n")
    assert [(line.kind, line.level) for line in found.log] == [("nan_guard", "warning")]


def test_a_crash_before_the_first_step_is_told() -> None:
    found = reading("Training Progress:   0%|          | 0/559 [00:00<?, ?it/s]" + crash(OOM))
    (line,) = found.log
    assert (line.kind, line.level, line.step) == ("cuda_oom", "critical", None)
    assert found.facts["planned_steps"] == "559"


@pytest.mark.parametrize(
    "end",
    [
        "RuntimeError: boom",
        "AssertionError",
        "verl.errors.BatchError: x\n\n \n\n\n\n",
        "Segmentation fault (core dumped)",
        "Segmentation fault",
        "(TaskRunner pid=7) RuntimeError: boom",
        "[rank0]: AssertionError: x",
    ],
)
def test_an_error_without_a_traceback_ended_the_run_where_the_log_ends_in_it(end: str) -> None:
    (line,) = reading(STEP.format(3) + end).log
    assert (line.line, line.kind, line.level, line.step) == (2, "traceback", "error", 3)


def test_a_log_may_end_in_several_errors() -> None:
    end = "RuntimeError: boom\nrun.sh: line 12:  4711 Segmentation fault      (core dumped) python3 -m verl\n"
    found = reading(STEP.format(3) + end).log
    assert [(line.line, line.text.partition(" ")[0]) for line in found] == [
        (2, "RuntimeError:"),
        (3, "Segmentation"),
    ]


@pytest.mark.parametrize(
    "rest",
    [
        "RuntimeError: boom\nscored 0\n",
        "RuntimeError: boom\n" + STEP.format(4),
        "Error: no match in the answer\n",
        "the last RuntimeError: boom\n",
        "(RewardWorker pid=9) ValueError: cannot parse the answer\n",
    ],
)
def test_an_error_without_a_traceback_says_nothing_elsewhere(rest: str) -> None:
    assert reading(STEP.format(3) + rest).log == []


def test_the_error_of_a_traceback_is_told_once() -> None:
    assert len(reading(STEP.format(3) + crash("ValueError: x")).log) == 1


def test_an_error_without_a_traceback_after_the_end_did_not_end_the_run() -> None:
    bar = "Training Progress: 100%|####| 3/3 [00:30<00:00, 10.0s/it]\n"
    assert reading(STEP.format(3) + bar + "RuntimeError: teardown\n").log[-1].level == "info"


# --- bounds --------------------------------------------------------------------------------


def test_repeated_lines_are_counted_and_the_last_one_is_kept() -> None:
    text = "".join(STEP.format(s) + f"WARN: rank {s} grad_norm is not finite: nan\n" for s in range(500))
    first, last = reading(text).log
    assert (first.line, last.line) == (2, 1000)
    assert "500 lines like this, the last in line 1000" in first.text


def test_many_different_lines_are_bounded_and_the_rest_is_told() -> None:
    text = "".join(
        crash(f"ValueError: case {'x' * i}").replace("actor.py", f"a{'b' * i}.py") for i in range(300)
    )
    found = reading(text)
    assert len(found.log) < 100
    assert found.log[-1].line == 2100
    assert [p.kind for p in found.problems] == ["left_out"]
    assert "259 more" in found.problems[0].message or "258 more" in found.problems[0].message


def test_every_resume_is_kept() -> None:
    text = "".join(f"Setting global step to {s}\n{STEP.format(s + 1)}" for s in (10, 20, 30))
    assert [line.text for line in reading(text).log] == [f"Setting global step to {s}" for s in (10, 20, 30)]


def test_every_saved_checkpoint_is_kept_once() -> None:
    text = "".join(f"[Rank {r}] Saved model to /c/global_step_{s}/m.pt\n" for s in (10, 20) for r in range(8))
    kept = [line.line for line in reading(text).log]
    assert kept == [1, 8, 9, 16]


def test_a_text_is_cut_at_its_bound() -> None:
    (line,) = reading("Error executing job with overrides: ['" + "a" * 5000 + "']\n").log
    assert len(line.text) == 2000
