"""Records -> rows: repeats, rewinds, several sources of one run. Nothing is lost."""

from __future__ import annotations

import pytest

from sitegen.archive import build, gather
from tests.archive.conftest import Made, curve, kinds

SCORE = "critic/score/mean"


def test_a_record_is_a_row_with_its_line_and_source(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5}), (2, {"x": 0.25})])
    assert made.rows("row", "segment", "step", "live", "line", "source", "cut", "x") == [
        (0, 0, 1, True, 1, "a/m.jsonl", False, 0.5),
        (1, 0, 2, True, 2, "a/m.jsonl", False, 0.25),
    ]


def test_absent_is_null(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5}), (2, {"y": 0.0})])
    assert made.rows("x", "y") == [(0.5, None), (None, 0.0)]


def test_non_finite_values_are_null_in_their_column_and_kept_beside_it(made: Made) -> None:
    made.file(
        "a/m.jsonl",
        '{"step":1,"data":{"x":NaN}}\n{"step":2,"data":{"x":-Infinity}}\n{"step":3,"data":{"x":null}}\n',
    )
    assert made.rows("x") == [(None,), (None,), (None,)]
    assert made.extras() == [
        ("non_finite", s, "x", raw, "a/m.jsonl") for s, raw in ((1, "nan"), (2, "-inf"), (3, "null"))
    ]


# --- one source ----------------------------------------------------------------------------


def test_a_step_logged_in_two_records_is_one_row(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"train/loss": 0.5}), (2, {"train/loss": 0.25}), (2, {"val/loss": 0.3})])
    assert made.rows("step", "train/loss", "val/loss") == [(1, 0.5, None), (2, 0.25, 0.3)]
    assert made.run().problems == ()


def test_a_value_logged_twice_for_a_step_keeps_the_last_and_the_first_beside_it(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5}), (1, {"x": 0.75}), (2, {"x": 1.5})])
    assert made.rows("step", "x") == [(1, 0.75), (2, 1.5)]
    assert made.extras() == [("repeat", 1, "x", "0.5", "a/m.jsonl")]
    assert kinds(made.run().problems) == ["repeat"]


def test_the_same_value_logged_twice_is_no_repeat(made: Made) -> None:
    made.jsonl("a/m.jsonl", [(1, {"x": 0.5}), (1, {"x": 0.5})])
    assert made.extras() == []


def test_a_step_that_falls_opens_a_segment_and_the_last_one_lives(made: Made) -> None:
    made.jsonl("a/m.jsonl", [*curve(1, 5), *curve(3, 7, shift=0.5)])
    assert made.rows("segment", "step", "live") == [
        (0, 1, True), (0, 2, True), (0, 3, False), (0, 4, False), (0, 5, False),
        (1, 3, True), (1, 4, True), (1, 5, True), (1, 6, True), (1, 7, True),
    ]  # fmt: skip
    run = made.run()
    assert [(s.number, s.first, s.last, s.rows, s.reason) for s in run.segments] == [
        (0, 1, 5, 5, "start"),
        (1, 3, 7, 5, "rewind"),
    ]
    assert (run.steps, run.first_step, run.last_step) == (7, 1, 7)


@pytest.mark.timeout(60)
def test_a_log_that_falls_back_thousands_of_times_is_read_in_no_time(made: Made) -> None:
    """Two counters of steps in one file, as trackers keep them: it took minutes, growing with the square."""
    made.jsonl("a/m.jsonl", [(i // 2 if i % 2 else i, {"x": 0.5 + i}) for i in range(20_000)])
    assert len(made.run().segments) == 10_000


def test_steps_that_no_later_segment_reached_stay_live(made: Made) -> None:
    made.jsonl("a/m.jsonl", [*curve(1, 9), *curve(3, 5, shift=0.5)])
    assert [(s, step) for s, step, live in made.rows("segment", "step", "live") if live] == [
        (0, 1), (0, 2), (0, 6), (0, 7), (0, 8), (0, 9), (1, 3), (1, 4), (1, 5),
    ]  # fmt: skip


def test_a_log_may_begin_anywhere(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(383, 399))
    run = made.run()
    assert (run.first_step, run.last_step, [s.reason for s in run.segments]) == (383, 399, ["start"])


def test_a_last_validation_at_the_last_step_is_no_rewind(made: Made) -> None:
    made.jsonl("a/m.jsonl", [*curve(1, 5), (5, {"val-core/gsm8k/acc/mean@1": 0.5})])
    assert len(made.run().segments) == 1
    assert made.rows("val-core/gsm8k/acc/mean@1")[-1] == (0.5,)


def test_the_validation_of_a_resumed_run_belongs_to_the_step_it_resumed_from(made: Made) -> None:
    validation = {"val-core/gsm8k/acc/mean@1": 0.5}
    made.jsonl("a/m.jsonl", [*curve(1, 9), (6, validation), *curve(7, 12, shift=0.25)])
    assert [(s.first, s.last) for s in made.run().segments] == [(1, 9), (7, 12)]
    rows = {(seg, step): (live, val, score) for seg, step, live, val, score in
            made.rows("segment", "step", "live", "val-core/gsm8k/acc/mean@1", SCORE)}  # fmt: skip
    assert rows[(0, 6)][:2] == (True, 0.5) and rows[(0, 6)][2] is not None


def test_a_resume_that_the_log_announces_opens_a_segment(made: Made) -> None:
    made.console("a/train.log", [
        *curve(1, 5),
        "Found checkpoint: /ckpt/global_step_5", "Resuming from /ckpt/global_step_5",
        *curve(6, 9),
    ])  # fmt: skip
    assert [(s.first, s.last, s.reason) for s in made.run().segments] == [(1, 5, "start"), (6, 9, "resume")]


# --- several sources -----------------------------------------------------------------------


def test_three_decimals_and_every_digit_are_one_value(made: Made) -> None:
    full = [(s, {SCORE: 0.1234567 + s * 0.0371, "actor/lr": 1e-6}) for s in range(1, 10)]
    made.console("a/train.log", [(s, {k: f"{v:.3f}" for k, v in d.items()}) for s, d in full])
    made.jsonl("a/m.jsonl", full)
    assert made.rows("step", SCORE, "actor/lr", "source") == [
        (s, d[SCORE], 1e-6, "a/m.jsonl, a/train.log") for s, d in full
    ]
    assert made.run().problems == ()
    assert made.extras() == []


def test_missing_steps_and_metrics_are_filled_from_the_other_source(made: Made) -> None:
    made.console("a/train.log", [(s, {**d, "perf/mfu": 0.3}) for s, d in curve(1, 10)])
    made.jsonl("a/m.jsonl", [(s, {**d, "extra/x": 0.7}) for s, d in curve(4, 12)])
    rows = made.rows("step", SCORE, "perf/mfu", "extra/x")
    assert [row[0] for row in rows] == list(range(1, 13))
    assert [row[1] for row in rows] == [d[SCORE] for _, d in curve(1, 12)]
    assert [row[2] for row in rows] == [0.3] * 10 + [None] * 2
    assert [row[3] for row in rows] == [None] * 3 + [0.7] * 9


def test_a_conflict_keeps_both_values_and_is_told_once(made: Made) -> None:
    wrong = [
        (s, {SCORE: d[SCORE] + (0.5 if s in (4, 7) else 0), "actor/grad_norm": d["actor/grad_norm"]})
        for s, d in curve(1, 20)
    ]
    made.console("a/train.log", wrong)
    made.jsonl("a/m.jsonl", curve(1, 20))
    assert made.rows(SCORE) == [(d[SCORE],) for _, d in curve(1, 20)]
    assert [(kind, step, source) for kind, step, _, _, source in made.extras()] == [
        ("conflict", 4, "a/train.log"), ("conflict", 7, "a/train.log"),
    ]  # fmt: skip
    (problem,) = made.run().problems
    assert problem.kind == "conflict"
    assert all(part in problem.message for part in ("a/m.jsonl", "2 values", SCORE, "step 4"))


def test_a_null_of_one_source_is_spelled_by_the_other(made: Made) -> None:
    made.console("a/train.log", [(s, {**d, "actor/kl": "inf" if s == 3 else 0.5}) for s, d in curve(1, 6)])
    made.jsonl("a/m.jsonl", [(s, {**d, "actor/kl": None if s == 3 else 0.5}) for s, d in curve(1, 6)])
    assert made.extras() == [("non_finite", 3, "actor/kl", "inf", "a/train.log")]


def test_a_filelogger_that_a_resume_overwrote_joins_the_second_segment(made: Made) -> None:
    made.console("a/train.log", [*curve(1, 50), *curve(41, 60, shift=0.001)])
    made.jsonl("a/m.jsonl", curve(41, 60, shift=0.001))
    assert [(s.first, s.last, s.reason) for s in made.run().segments] == [
        (1, 50, "start"),
        (41, 60, "rewind"),
    ]
    sources = {(seg, step): source for seg, step, source in made.rows("segment", "step", "source")}
    assert sources[(0, 45)] == "a/train.log" and sources[(1, 45)] == "a/m.jsonl, a/train.log"
    assert made.run().problems == ()


def test_attempts_come_in_order_of_time_not_of_name(made: Made) -> None:
    made.jsonl("a/z-first.jsonl", curve(1, 20))
    made.jsonl("a/attempt-10.jsonl", curve(31, 50))
    made.jsonl("a/attempt-9.jsonl", curve(21, 30))
    segments = made.run().segments
    assert [(s.first, s.source.split("/")[1]) for s in segments] == [
        (1, "z-first.jsonl"), (21, "attempt-9.jsonl"), (31, "attempt-10.jsonl"),
    ]  # fmt: skip
    assert [s.reason for s in segments] == ["start", "new file", "new file"]


RESUMED = ["Resuming from /ckpt/global_step_40", "Setting global step to 40"]


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize(("first", "second"), [("train1.log", "train2.log"), ("train.log.1", "train.log")])
def test_a_log_that_resumes_rewrites_the_steps_of_the_one_before(
    made: Made, shift: float, first: str, second: str
) -> None:
    made.console(f"a/{first}", curve(1, 50))
    made.console(f"a/{second}", [*RESUMED, *curve(41, 100, shift=shift)])
    segments = made.run().segments
    assert [(s.first, s.last, s.source) for s in segments] == [
        (1, 50, f"a/{first}"),
        (41, 100, f"a/{second}"),
    ]
    assert segments[1].reason == "resume"
    rewritten = [step for step, segment, live in made.rows("step", "segment", "live") if not live]
    assert rewritten == list(range(41, 51))
    assert made.run().problems == ()


def test_of_metrics_that_differ_in_part_the_resumed_attempt_lives(made: Made) -> None:
    lr = {"actor/lr": 0.5, "actor/kl": 0.25, "actor/clip": 0.125, "perf/mfu": 0.375}
    made.console("a/1.log", [(s, {SCORE: s * 0.5, **lr}) for s in range(1, 51)])
    made.console("a/2.log", [*RESUMED, *((s, {SCORE: s * 0.125, **lr}) for s in range(41, 61))])
    made.run()
    assert [v for s, v, live in made.rows("step", SCORE, "live") if s == 45] == [22.5, 5.625]


def test_a_second_copy_of_a_resumed_log_is_no_attempt(made: Made) -> None:
    text = [*curve(1, 50), *RESUMED, *curve(41, 100, shift=0.5)]
    made.console("a/train.log", text)
    made.console("a/output.log", text)
    assert [(s.first, s.last) for s in made.run().segments] == [(1, 50), (41, 100)]


def test_a_file_of_metrics_that_holds_both_attempts_joins_them(made: Made) -> None:
    made.jsonl("a/all.jsonl", curve(1, 100))
    made.console("a/1.log", curve(1, 40))
    made.console("a/2.log", [*RESUMED, *curve(41, 100)])
    assert len(made.run().segments) == 1


@pytest.mark.parametrize("last", [60, 140])
def test_the_first_validation_of_a_resumed_log_leaves_the_step_before_alive(made: Made, last: int) -> None:
    made.console("a/1.log", curve(1, 50))
    made.console("a/2.log", [*RESUMED, (40, {"val-core/x": 0.5}), *curve(41, last, shift=0.5)])
    made.run()
    assert [(seg, live, val) for s, seg, live, val in made.rows("step", "segment", "live", "val-core/x")
            if s == 40] == [(0, True, 0.5)]  # fmt: skip


def test_a_resumed_log_with_nothing_but_a_validation_rewrites_nothing(made: Made) -> None:
    made.console("a/1.log", curve(1, 50))
    made.console("a/2.log", [*RESUMED, (40, {"val-core/x": 0.5})])
    assert len(made.run().segments) == 1
    assert (40, True, 0.5) in made.rows("step", "live", "val-core/x")


def test_metrics_in_two_files_and_debug_in_one_are_one_segment(made: Made) -> None:
    made.flat("a/logs/metrics/0.jsonl", [{"step": s, "reward_mean": s * 0.1} for s in range(1, 11)])
    made.flat("a/logs/metrics/1.jsonl", [{"step": s, "reward_mean": s * 0.1} for s in range(11, 21)])
    made.file(
        "a/logs/debug/d.log", "".join(f"[DEBUG] step={s} grad_norm_actor={s}.5\n" for s in range(1, 21))
    )
    run = made.run()
    assert len(run.segments) == 1 and run.steps == 20
    assert made.rows("reward_mean", "grad_norm_actor")[14] == (1.5, 15.5)


def test_sources_that_contradict_in_one_run_are_attempts(made: Made) -> None:
    made.file("a/run.toml", "")
    made.jsonl("a/1.jsonl", curve(1, 5))
    made.jsonl("a/2.jsonl", curve(1, 9, shift=0.4))
    assert [(s.first, s.last, s.source) for s in made.run().segments] == [
        (1, 5, "a/1.jsonl"),
        (1, 9, "a/2.jsonl"),
    ]
    assert made.run().steps == 9


def test_a_cut_record_is_whole_again_when_another_source_has_it(made: Made) -> None:
    made.file("a/logs/metrics/m.jsonl", '{"step": 1, "x": 0.5, "y": 0.25}\n{"step": 2, "x": 0.75, "y": 0.')
    assert made.rows("step", "cut", "x", "y") == [(1, False, 0.5, 0.25), (2, True, 0.75, None)]
    made.jsonl("a/full.jsonl", [(1, {"x": 0.5, "y": 0.25}), (2, {"x": 0.75, "y": 0.125})])
    assert made.rows("step", "cut", "x", "y") == [(1, False, 0.5, 0.25), (2, False, 0.75, 0.125)]


# --- size ----------------------------------------------------------------------------------


def test_rows_are_the_same_when_the_values_wait_on_disk(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> None:
        made.console("a/train.log", [*curve(1, 60), *curve(41, 90, shift=0.001)])
        made.jsonl("a/m.jsonl", curve(41, 90, shift=0.001))

    write()
    names = ("segment", "step", "live", "source", SCORE, "actor/grad_norm")
    in_memory = made.rows(*names)
    whole = made.run().fingerprint
    monkeypatch.setattr(build, "SPOOLED", 0)
    monkeypatch.setattr(gather, "CELLS", 64)
    made.file("a/run.toml", "")  # another fingerprint, so that the run is built again
    assert made.rows(*names) == in_memory
    assert made.run().fingerprint != whole
