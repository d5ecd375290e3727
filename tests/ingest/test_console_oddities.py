"""Oddities of real verl logs, one test each. The numbers are those of the list the readers were built from:
a lost or cut data, b line prefixes, c one step over several lines; the rest is in test_console_mixed.py.
"""

from __future__ import annotations

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


# --- a. lost or cut ------------------------------------------------------------------------


def test_oddity_01_a_line_that_wandb_cut_loses_its_last_piece_and_is_marked() -> None:
    line = filled(4096, 10, "- val-aux/set/last:np.float64(0.")
    assert len(line) == 4096
    found = reading(
        step_line(9, "actor/lr:1e-06", "perf/mfu:0.5") + "\n" + line + "\n\nstep:11 - actor/lr:1e-06\n"
    )
    assert found.steps == [9, 10, 11]
    assert found.cut == [10]
    assert "val-aux/set/last" not in found.rows[1][1]
    assert "perf/mfu" not in found.rows[1][1]
    assert found.kinds == ["cut"]


def test_oddity_01_a_cut_line_loses_a_last_number_that_looks_whole() -> None:
    line = filled(4096, 10, "- val-aux/set/last:0.12")
    assert "val-aux/set/last" not in reading(line + "\n").rows[0][1]


def test_oddity_01_a_cut_that_fell_on_a_blank_leaves_4095_characters() -> None:
    line = filled(4095, 10, "- val-aux/set/last:0.5 -")
    found = reading(line + "\n")
    assert found.cut == [10]
    assert found.rows[0][1]["val-aux/set/last"] == 0.5


def test_oddity_01_a_line_longer_than_that_is_whole() -> None:
    line = filled(4097, 10, "- val-aux/set/last:0.5")
    found = reading(line + "\n")
    assert found.cut == []
    assert found.rows[0][1]["val-aux/set/last"] == 0.5


@pytest.mark.parametrize("end", [" -", " - prompt", " - timing_s/gen", " - timing_s/gen:"])
def test_oddity_02_a_pasted_line_that_ends_inside_a_piece_is_reported(end: str) -> None:
    found = reading(f"step:59 - actor/kl_loss:0.25 - actor/lr:0.001{end}\n")
    assert found.rows == [(59, {"actor/kl_loss": 0.25, "actor/lr": 0.001})]
    assert found.cut == [59]
    assert found.kinds == ["truncated"]


def test_oddity_02_the_last_number_of_a_file_without_line_end_may_be_half_a_number() -> None:
    found = reading("step:1 - actor/lr:1e-06 - timing_s/gen:10.7")
    assert found.rows == [(1, {"actor/lr": 1e-06})]
    assert found.kinds == ["truncated"]


def test_oddity_02_fewer_decimals_than_all_others_tell_a_cut_number() -> None:
    pieces = [f"actor/m{i}:0.{i}00" for i in range(1, 7)]
    found = reading(step_line(1, *pieces, "timing_s/gen:10.7") + "\n")
    assert "timing_s/gen" not in found.rows[0][1]
    assert found.kinds == ["truncated"]


def test_oddity_02_a_last_record_that_stops_short_of_those_before_it_lost_its_end() -> None:
    pieces = [f"actor/m{i}:0.5" for i in range(9)]
    whole = "\n".join(step_line(s, *pieces, "perf/mfu:0.25") for s in (1, 2))
    found = reading(f"{whole}\n{step_line(3, *pieces)}\n")
    assert list(found.rows[-1][1]) == [f"actor/m{i}" for i in range(8)]
    assert found.cut == [3]


def test_oddity_02_a_last_record_as_short_as_many_before_it_is_whole() -> None:
    pieces = [f"train/m{i}:0.5" for i in range(9)]
    lines = [step_line(1, *pieces), step_line(2, *pieces, "val/loss:0.5"), step_line(3, *pieces)]
    found = reading("\n".join(lines) + "\n")
    assert len(found.rows[-1][1]) == 9
    assert found.problems == []


@pytest.mark.parametrize("step", ["1" + "0" * 18, "1" + "0" * 30, "9" * 3000, str(2**53 + 1)])
def test_a_step_that_no_run_reaches_is_a_problem_and_leaves_its_neighbours_alone(step: str) -> None:
    lines = [
        step_line(1, "actor/lr:1e-06", "response_length/mean:100.0"),
        f"step:{step} - actor/lr:2e+28 - response_length/mean:7.0",
        step_line(2, "actor/lr:3e-06", "response_length/mean:101.0"),
    ]
    found = reading("\n".join(lines) + "\n")
    assert found.rows == [
        (1, {"actor/lr": 1e-06, "response_length/mean": 100.0}),
        (2, {"actor/lr": 3e-06, "response_length/mean": 101.0}),
    ]
    (problem,) = found.problems
    assert (problem.path, problem.line, problem.kind) == ("run/train.log", 2, "out-of-range")
    assert problem.message.startswith("step out of range: ")


def test_the_largest_step_is_a_step() -> None:
    assert reading(step_line(2**53, "actor/lr:1e-06") + "\n").steps == [2**53]


def test_oddity_03_metrics_without_a_step_are_a_problem_not_a_row() -> None:
    tail = "t_length/mean:144.000 - prompt_length/max:146.000 - timing_s/gen:1.977 - timing_s/adv:0.041\n"
    found = reading(tail + "step:384 - actor/lr:0.5\n")
    assert found.rows == [(384, {"actor/lr": 0.5})]
    assert [(p.kind, p.line) for p in found.problems] == [("fragment", 1)]
    assert "4 metrics" in found.problems[0].message


def test_oddity_04_a_text_that_a_tool_cut_inside_json_keeps_its_whole_metrics() -> None:
    found = reading('{"log": "step:3 - actor/lr:0.5 - critic/score/mean:0.25 - response_l"}\n')
    assert found.rows == [(3, {"actor/lr": 0.5, "critic/score/mean": 0.25})]
    assert found.cut == [3]


def test_oddity_05_a_log_may_start_in_the_middle_of_a_run() -> None:
    found = reading("step:383 - actor/lr:0.5\nstep:384 - actor/lr:0.5\n")
    assert found.steps == [383, 384]
    assert found.problems == []


def test_oddity_06_a_log_that_just_stops_names_no_cause() -> None:
    found = reading("step:1 - actor/lr:0.5\nvalidation generation end\n")
    assert found.log == []
    assert found.facts["last_step_line"] == "1"


def test_oddity_07_sigterm_from_outside_is_kept_with_its_time() -> None:
    found = reading("step:1 - actor/lr:0.5\n*** SIGTERM received at time=1780487418 on cpu 145 ***\n")
    (line,) = found.log
    assert (line.kind, line.level, line.step, line.time) == ("sigterm", "error", 1, 1780487418.0)


def test_oddity_08_a_broken_pipe_at_exit_is_no_crash() -> None:
    text = (
        "(TaskRunner pid=3) step:67 - actor/lr:0.5\n"
        "(TaskRunner pid=3) Exception ignored in atexit callback: <function teardown at 0x7e>\n"
        "(TaskRunner pid=3) Traceback (most recent call last):\n"
        '(TaskRunner pid=3)   File "/x/asyncio/streams.py", line 343, in wait_closed\n'
        "(TaskRunner pid=3) BrokenPipeError: [Errno 32] Broken pipe\n"
    )
    assert reading(text).marks()[-1] == (5, "traceback", "info")


def test_oddity_09_a_traceback_after_the_final_validation_is_no_crash() -> None:
    text = (
        "step:435 - actor/lr:0.5\n"
        "\"Final validation metrics: {'val/test_score/x': 0.5}\"\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in close\n'
        "RuntimeError: process group is gone\n"
    )
    assert reading(text).marks() == [(2, "finished", "info"), (5, "traceback", "info")]


# --- b. prefixes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix",
    [
        pytest.param("", id="oddity_10_none"),
        pytest.param("\x1b[36m(main_task pid=54)\x1b[0m ", id="oddity_11_colour_and_ray"),
        pytest.param("\x1b[36m(TaskRunnerV1 pid=54)\x1b[0m ", id="oddity_11_newer_ray"),
        pytest.param("\x1b[2m\x1b[36m(main_task pid=54)\x1b[0m ", id="oddity_12_two_colours"),
        pytest.param("(main_task pid=54) ", id="oddity_13_no_colour"),
        pytest.param("(TaskRunner pid=15, ip=10.4.1.33) ", id="oddity_14_address"),
        pytest.param("(wiQkzJWorkerDict_0:0 WorkerDict pid=93) ", id="oddity_14_worker_name"),
        pytest.param("[36m(main_task pid=54)[0m ", id="colour_whose_escape_was_lost"),
        pytest.param("[rank0]: ", id="torchrun"),
        pytest.param("0: ", id="srun"),
        pytest.param("INFO:2025-01-01 10:00:00,123:", id="logging"),
    ],
)
def test_a_step_line_is_read_behind_any_prefix(prefix: str) -> None:
    lines = [prefix + step_line(s, "actor/lr:0.5", "critic/kl:0.25") for s in range(1, 7)]
    found = reading("\n".join(lines) + "\n")
    assert found.rows == [(s, {"actor/lr": 0.5, "critic/kl": 0.25}) for s in range(1, 7)]
    assert found.problems == []


@pytest.mark.parametrize(
    "suffix", ["\x1b[32m [repeated 3x across cluster]\x1b[0m", " [repeated 3x across cluster]"]
)
def test_oddity_15_rays_repeat_count_is_no_part_of_the_last_metric(suffix: str) -> None:
    found = reading(RAY + "step:1 - actor/lr:0.5" + suffix + "\n")
    assert found.rows == [(1, {"actor/lr": 0.5})]
    assert found.problems == []


def test_oddity_16_a_prefix_without_words_ends_a_record() -> None:
    found = reading("(TaskRunner pid=3) step:1 - actor/lr:0.5\n(TaskRunner pid=3) \n(TaskRunner pid=3) 6\n")
    assert found.rows == [(1, {"actor/lr": 0.5})]


def test_oddity_17_colours_spelled_out_as_text_are_colours() -> None:
    found = reading("\\u001b[36m(main_task pid=5)\\u001b[0m step:2 - actor/lr:0.5\n")
    assert found.rows == [(2, {"actor/lr": 0.5})]


def test_oddity_17_a_line_of_json_holds_several_lines_of_log() -> None:
    text = '{"log": "\\u001b[36m(W pid=5)\\u001b[0m step:2 - actor/lr:0.5\\nstep:3 - actor/lr:0.25\\n"}\n'
    assert reading(text).rows == [(2, {"actor/lr": 0.5}), (3, {"actor/lr": 0.25})]


@pytest.mark.parametrize(
    "line",
    [
        '    "content": "\\u001b[36m(T pid=5)\\u001b[0m step:2 - actor/lr:0.5 - actor/kl:0.25",',
        '"\\u001b[36m(T pid=5)\\u001b[0m step:2 - actor/lr:0.5 - actor/kl:0.25\\n(T pid=5)\\u001b[0m"',
        '"type": "text", "content": "(T pid=5) step:2 - actor/lr:0.5 - actor/kl:0.25 - response_l',
        '["(T pid=5) step:2 - actor/lr:0.5 - actor/kl:0.25"]',
    ],
)
def test_oddity_32_chat_exports_and_json_dumps_are_unwrapped(line: str) -> None:
    assert reading(f"{line}\n").rows == [(2, {"actor/lr": 0.5, "actor/kl": 0.25})]


# --- c. one step over several lines --------------------------------------------------------


def test_oddity_18_a_terminals_wrap_inside_a_name_is_undone_by_concatenation() -> None:
    text = "step:60 - actor/lr:0.5 - val-\naux/aime/mean@30:0.25 - perf/mfu:0.5\nTraining Progress:  2%|\n"
    assert reading(text).rows == [(60, {"actor/lr": 0.5, "val-aux/aime/mean@30": 0.25, "perf/mfu": 0.5})]


def test_oddity_18_a_wrap_at_a_blank_makes_the_next_line_start_with_the_separator() -> None:
    text = "(TaskRunner pid=3) step:60 - actor/lr:0.5\n - actor/kl:0.25 - perf/mfu:0.5\n"
    assert reading(text).rows == [(60, {"actor/lr": 0.5, "actor/kl": 0.25, "perf/mfu": 0.5})]


@pytest.mark.parametrize("width", [31, 40, 61, 80, 113, 160])
def test_oddity_18_any_width_of_terminal_gives_the_same_record(width: int) -> None:
    values = {f"val-aux/aime_2025/reward/best@{i}/mean": i / 7 for i in range(1, 30)}
    line = RAY.replace("\x1b[36m", "").replace("\x1b[0m", "") + step_line(
        60, *(f"{n}:{v!r}" for n, v in values.items())
    )
    wrapped = "\n".join(line[i : i + width] for i in range(0, len(line), width))
    found = reading(f"{wrapped}\n(TaskRunner pid=7) \n")
    assert found.rows == [(60, values)]


def test_oddity_19_one_metric_per_line_is_one_record() -> None:
    names = [f"timing_s/m{i}" for i in range(50)]
    text = "(TaskRunner pid=15, ip=10.0.0.1) step:1\n" + "".join(f" - {n}:0.5\n" for n in names) + "\nnext\n"
    found = reading(text)
    assert found.rows == [(1, dict.fromkeys(names, 0.5))]
    assert found.lines == [1]


def test_oddity_19_a_prefix_on_each_of_these_lines_does_no_harm() -> None:
    text = RAY + "step:1\n" + RAY + " - actor/lr:0.5\n" + RAY + " - actor/kl:0.25\n"
    assert reading(text).rows == [(1, {"actor/lr": 0.5, "actor/kl": 0.25})]


def test_oddity_20_a_wrapped_number_that_parses_alone_is_still_joined() -> None:
    text = (
        "step:6 - actor/ppo_kl:0.0\n01 - val-aux/aime/mean@30:0.0361111062102847\n6 - val-aux/aime/std:0.25\n"
    )
    assert reading(text).rows == [
        (6, {"actor/ppo_kl": 0.001, "val-aux/aime/mean@30": 0.03611110621028476, "val-aux/aime/std": 0.25})
    ]


def test_oddity_20_a_number_printed_on_its_own_after_a_record_is_not_joined() -> None:
    assert reading("step:6 - actor/lr:0.5\n72\n").rows == [(6, {"actor/lr": 0.5})]


def test_oddity_21_initial_validation_printed_over_many_lines_belongs_to_step_0() -> None:
    text = (
        "(\"Initial validation metrics: {'val-aux/aime/mean@30': \"\n"
        " \"np.float64(-0.25), 'val-aux/num_turns/max': np.int32(2), 'val-core/a b': \"\n"
        ' "np.float64(0.5)}")\n'
        "step:1 - actor/lr:0.5\n"
    )
    assert reading(text).rows == [
        (0, {"val-aux/aime/mean@30": -0.25, "val-aux/num_turns/max": 2.0, "val-core/a b": 0.5}),
        (1, {"actor/lr": 0.5}),
    ]


def test_oddity_21_initial_values_that_the_step_line_repeats_are_one_value() -> None:
    announced = "\"Initial validation metrics: {'val/x': 0.51234, 'val/y': 0.25}\"\n"
    text = f"{announced}step:0 - val/x:0.512\nstep:1 - actor/lr:0.5\n"
    found = reading(text)
    assert found.rows == [(0, {"val/x": 0.512}), (0, {"val/y": 0.25}), (1, {"actor/lr": 0.5})]
    assert found.problems == []


def test_oddity_21_initial_values_that_contradict_the_step_line_are_reported() -> None:
    found = reading("\"Initial validation metrics: {'val/x': 0.9}\"\nstep:0 - val/x:0.512\n")
    assert found.rows == [(0, {"val/x": 0.512})]
    assert found.kinds == ["conflict"]


def test_oddity_21_final_validation_belongs_to_the_last_step() -> None:
    text = "step:434 - actor/lr:0.5\n(main_task pid=5) \"Final validation metrics: {'test_score/x': 0.5}\"\n"
    assert reading(text).rows == [(434, {"actor/lr": 0.5}), (434, {"test_score/x": 0.5})]


def test_oddity_21_initial_values_of_a_resumed_run_belong_to_the_step_it_resumed_from() -> None:
    text = "Setting global step to 100\nInitial validation metrics: {'val/x': 0.5}\nstep:101 - actor/lr:0.5\n"
    assert reading(text).rows == [(100, {"val/x": 0.5}), (101, {"actor/lr": 0.5})]


def test_oddity_21_other_workers_may_talk_between_the_lines_of_the_dict() -> None:
    text = (
        RAY + "(\"Initial validation metrics: {'val/x': \"\n"
        "(WorkerDict pid=9) kwargs: {'n': 1}\n" + RAY + ' "0.5}")\n'
        "step:1 - actor/lr:0.5\n"
    )
    assert reading(text).rows == [(0, {"val/x": 0.5}), (1, {"actor/lr": 0.5})]
