"""Oddities of real verl logs, one test each, as in test_console_oddities.py: d mixed with other text,
e values, f names, g steps, h names that changed.
"""

from __future__ import annotations

import math

import pytest

from tests.ingest.reading import reading

RAY = "\x1b[36m(TaskRunner pid=7)\x1b[0m "


def step_line(step: int, *pieces: str) -> str:
    return f"step:{step} - " + " - ".join(pieces)


def filled(length: int, step: int, tail: str) -> str:
    """A step line of exactly `length` characters that ends in `tail`."""
    line = step_line(step, "actor/lr:1e-06")
    number = 0
    while len(line) + len(tail) + 60 < length:
        number += 1
        line += f" - val-aux/set/m{number}:0.{number}"
    line += " - val-aux/set/"
    return line + "p" * (length - len(line) - len(tail) - 6) + ":0.25 "[: 6 - 1] + " " + tail


# --- d. mixed with other output ------------------------------------------------------------


@pytest.mark.parametrize(
    "bar",
    [
        "Training Progress:  84%|████  | 67/80 [1:41:07<18:12, 84.06s/it]",
        "Training Progress: 9%|█| 9/99 [2:0<0:00, 2.1s/it]Training Progress: 9%|█| 9/99 [2:0<0:00, 2s/it]",
    ],
)
def test_oddity_22_a_bar_glued_before_a_step_line_is_no_part_of_it(bar: str) -> None:
    found = reading(f"{bar}step:67 - actor/lr:0.5\n")
    assert found.rows == [(67, {"actor/lr": 0.5})]


def test_oddity_22_a_bar_tells_the_planned_steps() -> None:
    found = reading("Training Progress:  84%|████  | 67/80 [1:41:07<18:12, 84.06s/it]\n")
    assert found.facts["planned_steps"] == "80"
    assert found.log == []


def test_oddity_22_a_bar_at_its_end_means_finished() -> None:
    found = reading(
        "step:80 - actor/lr:0.5\nTraining Progress: 100%|████| 80/80 [2:00:00<00:00, 84.06s/it]\n"
    )
    assert found.marks() == [(2, "finished", "info")]


def test_oddity_23_after_carriage_returns_the_prefix_holds_for_every_piece() -> None:
    text = "\x1b[36m(WorkerDict pid=4)\x1b[0m \rLoading:  0%| | 0/7\rTraceback (most recent call last):\n"
    text += '\x1b[36m(WorkerDict pid=4)\x1b[0m   File "a.py", line 3, in f\n'
    text += "(TaskRunner pid=9) step:1 - actor/lr:0.5\n\x1b[36m(WorkerDict pid=4)\x1b[0m ValueError: x\n"
    found = reading(text)
    assert found.rows == [(1, {"actor/lr": 0.5})]
    assert [line.text for line in found.log] == ["ValueError: x\n  at a.py:3 in f"]


def test_oddity_23_dos_line_ends_are_line_ends() -> None:
    text = "".join(f"step:{s} - actor/lr:0.5 - actor/kl:0.25\r\n" for s in range(6))
    found = reading(text)
    assert found.rows == [(s, {"actor/lr": 0.5, "actor/kl": 0.25}) for s in range(6)]
    assert found.problems == []


@pytest.mark.parametrize(
    "text",
    [
        "### Step 1: Analyzing Formula 1 - (..)",
        "**Step 2: Identify relevant information**",
        "Extracted equation: 21 - 56 + 65",
        " - Question 1: 5",
        '   - Keyword: "..."',
        "step:1 - Analyze the formula: 5",
        "step:3 - first we add 2 / 3: 0.5",
        "step: 4",
        "step:4",
        "Let us look at step:5 - the number x/y: 3",
        '"step:7 - actor/lr:0.5 is what the log says"',
        "my_step:8 - actor/lr:0.5",
        "- Part 1/2:5",
    ],
)
def test_oddity_24_text_that_looks_like_a_step_line_is_no_metric(text: str) -> None:
    assert reading(f"{text}\n").rows == []


def test_oddity_24_such_text_right_behind_a_step_line_is_no_metric_either() -> None:
    text = "step:1 - actor/lr:0.5\n - Question 1: 5\nstep:2 - actor/lr:0.5\n21 - 56 + 65\n"
    assert reading(text).rows == [(s, {"actor/lr": 0.5}) for s in (1, 2)]


def test_oddity_25_the_line_that_announces_a_step_is_no_record() -> None:
    found = reading("(main_task pid=5) epoch 0, step 383\n(main_task pid=5) step:383 - actor/lr:0.5\n")
    assert found.steps == [383]


def test_oddity_26_talk_of_dynamic_sampling_is_no_record_and_no_problem() -> None:
    found = reading("trial 1: filter out 21 samples from 32 samples\nnum_gen_batches=1. Keep generating...\n")
    assert (found.rows, found.problems, found.log) == ([], [], [])


def test_oddity_27_wandbs_rounded_summary_is_not_read() -> None:
    text = (
        "step:67 - actor/lr:5e-07\n"
        "wandb: Run history:\nwandb:         actor/entropy ▅▄▄▃\nwandb:    +68 ...\n"
        "wandb: Run summary:\nwandb:              actor/lr 0.0\n"
    )
    assert reading(text).rows == [(67, {"actor/lr": 5e-07})]


def test_oddity_28_exceptions_that_a_worker_handled_do_not_end_a_run() -> None:
    failure = (
        "(LoopWorker pid=8) ERROR:2025-11-19 19:07:43,953:Traceback (most recent call last):\n"
        '(LoopWorker pid=8)   File "/m/env.py", line 266, in act\n'
        "(LoopWorker pid=8) ValueError: step 0 - no action\n"
    )
    found = reading(f"{failure}(TaskRunner pid=1) step:1 - actor/lr:0.5\n{failure}")
    assert [(line.kind, line.level) for line in found.log] == [("traceback", "warning")] * 2


def test_oddity_28_an_exception_survived_once_is_survived_at_the_end_too() -> None:
    failure = 'Traceback (most recent call last):\n  File "g.py", line 3, in grade\nValueError: nan or zoo\n'
    found = reading(f"{failure}step:1 - actor/lr:0.5\n{failure}")
    assert {line.level for line in found.log} == {"warning"}
    assert found.odd == []


def test_oddity_29_debugger_prompts_nul_bytes_and_chinese_are_read_over() -> None:
    text = "(Pdb) \n(W pid=4) \0\0我需要在页面上点击 ¬E ∨ C 🎉\n(TaskRunner pid=1) step:1 - actor/lr:0.5\0\n"
    found = reading(text)
    assert found.rows == [(1, {"actor/lr": 0.5})]
    assert found.marks() == [(1, "info", "info")]


@pytest.mark.parametrize(
    "prose",
    [" - 平均显存占用47.68%，显存峰值占用70.88%", "，显存峰值", " (peak 70 %)", " about as fast as before"],
)
def test_oddity_30_prose_behind_the_last_metric_is_reported_and_harmless(prose: str) -> None:
    found = reading(f"step:3 - actor/lr:0.5 - perf/tgs/actor:2029.7497964667414{prose}\n")
    assert found.rows == [(3, {"actor/lr": 0.5, "perf/tgs/actor": 2029.7497964667414})]
    assert found.kinds == ["unreadable"]
    assert found.cut == []


@pytest.mark.parametrize(
    "behind",
    ["/opt/env/lib/c10d.py:4807: UserWarning: no device id", "Epoch 9/20:  50%|", "[rank1]:[W1217] x"],
)
def test_the_only_metric_of_a_line_is_read_though_another_process_printed_right_behind_it(
    behind: str,
) -> None:
    found = reading(f"step:80 - val/loss:0.0712{behind}\n")
    assert found.rows == [(80, {"val/loss": 0.0712})]
    assert found.kinds == ["unreadable"]


@pytest.mark.parametrize(
    "text", ["step:3 - val/loss:0.5 is low", "step:3 - x/y:5/z/w", "step:3 - val/loss:0.5e"]
)
def test_the_only_metric_of_a_line_is_none_where_it_reads_like_prose(text: str) -> None:
    assert reading(f"{text}\n").rows == []


@pytest.mark.parametrize("printed", ["1,234.5", "1/2/3"])
def test_half_of_something_that_is_no_number_is_no_value(printed: str) -> None:
    found = reading(f"step:3 - actor/lr:0.5 - timing_s/gen:{printed} - perf/throughput:3.0\n")
    assert found.rows == [(3, {"actor/lr": 0.5, "perf/throughput": 3.0})]
    assert found.kinds == ["unreadable"]


def test_oddity_31_a_format_sign_left_in_does_not_hide_a_checkpoint() -> None:
    found = reading(
        "Found checkpoint: %s /c/global_step_105\nCheckpoint tracker file does not exist: %s /c/latest.txt\n"
    )
    assert [line.kind for line in found.log] == ["checkpoint_found", "info"]


# --- e. values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("np.float64(-0.25)", -0.25),
        ("np.int32(2)", 2.0),
        ("numpy.float32(0.5)", 0.5),
        ("tensor(0.5)", 0.5),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("np.True_", 1.0),
        ("True", 1.0),
        ("255486", 255486.0),
        ("-0.000", -0.0),
        ("1e-06", 1e-06),
        ("-2.62e-06", -2.62e-06),
        ("4.35e-11", 4.35e-11),
        ("-1", -1.0),
        ("0.0", 0.0),
    ],
)
def test_oddity_33_34_35_37_38_values_as_python_and_numpy_print_them(printed: str, value: float) -> None:
    found = reading(f"step:1 - actor/x:{printed} - actor/lr:0.5\n")
    assert found.rows == [(1, {"actor/x": value, "actor/lr": 0.5})]


def test_oddity_33_wrapped_and_bare_numbers_stand_on_one_line() -> None:
    line = "actor/entropy:9.48 - actor/kl_loss:np.float64(0.0001)"
    found = reading("".join(f"step:{s} - {line}\n" for s in range(8)))
    assert found.rows == [(s, {"actor/entropy": 9.48, "actor/kl_loss": 0.0001}) for s in range(8)]


@pytest.mark.parametrize(
    ("printed", "raw"),
    [
        ("nan", "nan"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("np.float64(nan)", "nan"),
        ("np.float64(-inf)", "-inf"),
    ],
)
@pytest.mark.parametrize("before", [0, 6], ids=["slow", "fast"])
def test_oddity_36_values_that_are_not_finite_are_kept_apart(printed: str, raw: str, before: int) -> None:
    wrap = "np.float64({})" if printed.startswith("np.") else "{}"
    usual = "".join(f"step:{s} - actor/pg_loss:{wrap.format(0.5)} - actor/lr:0.5\n" for s in range(before))
    found = reading(f"{usual}step:9 - actor/pg_loss:{printed} - actor/lr:0.5\n")
    assert found.rows[-1] == (9, {"actor/lr": 0.5})
    assert found.odd == [(9, "actor/pg_loss", raw)]


def test_oddity_37_none_is_no_value_and_no_nan() -> None:
    found = reading("step:1 - val/x:None - actor/lr:0.5\n'Final validation metrics: None'\n")
    assert found.rows == [(1, {"actor/lr": 0.5})]
    assert (found.odd, found.problems) == ([], [])


def test_oddity_39_a_dead_signal_of_zeros_is_kept_as_zeros() -> None:
    found = reading("".join(f"step:{s} - actor/pg_loss:0.0\n" for s in range(9)))
    assert found.rows == [(s, {"actor/pg_loss": 0.0}) for s in range(9)]


# --- f. names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("timing_s/agent_loop/slowest/generate_sequences", id="oddity_40_deep"),
        pytest.param("val-core/openai/gsm8k/reward/mean@1", id="oddity_40_slash_in_the_data_source"),
        pytest.param("val-aux/AIME2025/best@30/mean", id="oddity_41_at_and_capitals"),
        pytest.param("val/webshop_task_score (not success_rate)", id="oddity_42_blanks_and_parentheses"),
        pytest.param("val/score (a - b)", id="oddity_42_separator_in_parentheses"),
        pytest.param("actor/lr(1e-4)", id="oddity_42_scaled_lr"),
        pytest.param("train/time(s)", id="oddity_42_unit"),
        pytest.param("Mean Score (all sets)/x", id="oddity_42_blank_in_the_group"),
        pytest.param("val/a:b", id="oddity_42_colon"),
        pytest.param("actor/comm_eff/mask_ratio/layer_3", id="oddity_43_custom_group"),
        pytest.param("state_tokens/模型", id="oddity_43_other_script"),
        pytest.param("actor/perf/max_memory_allocated_gb", id="oddity_45_nested_perf"),
        pytest.param("perf/tgs/gen", id="oddity_45_fork"),
    ],
)
def test_a_name_reaches_to_the_last_colon_of_its_piece(name: str) -> None:
    lines = "".join(f"step:{s} - actor/kl:0.5 - {name}:0.25 - actor/x:1\n" for s in range(6))
    found = reading(lines)
    assert found.rows == [(s, {"actor/kl": 0.5, name: 0.25, "actor/x": 1.0}) for s in range(6)]
    assert found.problems == []


def test_oddity_43_forks_log_names_without_a_group() -> None:
    found = reading("step:1 - loss:0.5 - reward_mean:0.25\nstep:2 - reward:0.5\n")
    assert found.rows == [(1, {"loss": 0.5, "reward_mean": 0.25}), (2, {"reward": 0.5})]


def test_oddity_44_a_record_may_hold_hundreds_of_names() -> None:
    names = [f"val-aux/d{i}/reward/best@{i}/mean" for i in range(283)]
    found = reading("".join(step_line(s, *(f"{n}:{s}.5" for n in names)) + "\n" for s in range(6)))
    assert found.rows == [(s, dict.fromkeys(names, s + 0.5)) for s in range(6)]


# --- g. steps ------------------------------------------------------------------------------


def test_oddity_46_step_0_may_hold_validation_only() -> None:
    found = reading("step:0 - val-core/x/acc/mean@1:0.5\nstep:1 - actor/lr:0.5\n")
    assert found.rows == [(0, {"val-core/x/acc/mean@1": 0.5}), (1, {"actor/lr": 0.5})]


def test_oddity_47_a_step_logged_twice_on_purpose_stays_two_records() -> None:
    found = reading("step:372 - train/loss:0.5\nstep:372 - val/loss:0.25\n")
    assert found.rows == [(372, {"train/loss": 0.5}), (372, {"val/loss": 0.25})]
    assert found.problems == []


def test_oddity_48_the_step_of_the_line_counts_not_a_counter_in_it() -> None:
    assert reading("step:12 - training/global_step:13 - training/epoch:249\n").steps == [12]


def test_oddity_49_a_resume_is_kept_as_lines_and_facts() -> None:
    text = (
        "Found checkpoint: %s /c/global_step_105\nSetting global step to 105\nResuming from /c/x\n"
        "Training Progress: 100%|██████████| 105/105 [00:00<?, ?it/s]\n"
    )
    found = reading(text)
    assert [line.kind for line in found.log] == ["checkpoint_found", "resumed", "resumed"]
    assert found.facts["resumed_from"] == "105"


def test_oddity_49_a_rewind_in_one_file_stays_in_file_order() -> None:
    found = reading(
        "step:1 - actor/lr:0.5\nstep:2 - actor/lr:0.5\nSetting global step to 1\nstep:2 - actor/lr:0.25\n"
    )
    assert found.rows == [(1, {"actor/lr": 0.5}), (2, {"actor/lr": 0.5}), (2, {"actor/lr": 0.25})]


def test_oddity_h_old_and_new_names_are_kept_as_logged() -> None:
    found = reading(
        "step:1 - timing/gen:1.5 - actor/entropy_loss:0.5 - critic/kl_coeff:0.25 - mfu/actor:0.5\n"
    )
    assert list(found.rows[0][1]) == ["timing/gen", "actor/entropy_loss", "critic/kl_coeff", "mfu/actor"]


def test_a_line_printed_twice_into_one_keeps_what_can_be_read() -> None:
    found = reading("step:1 - actor/lr:0.5 - actor/kl:0.25(WorkerDict pid=5) hello - 3\n")
    assert found.rows == [(1, {"actor/lr": 0.5, "actor/kl": 0.25})]
    assert "unreadable" in found.kinds


def test_times_are_those_seen_last_before_a_record() -> None:
    text = (
        "step:1 - actor/lr:0.5\n2024-12-10 06:50:29,276\tINFO worker.py:1752 -- Started.\n"
        "step:2 - actor/lr:0.5\n[2024-12-10 06:51:29,000 E 1 2] x.cc: y\nstep:3 - actor/lr:0.5\n"
    )
    first, second, third = reading(text).times
    assert math.isnan(first)
    assert (second, third) == (1733813429.276, 1733813489.0)
