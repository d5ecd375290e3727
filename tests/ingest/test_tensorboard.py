"""TensorBoard event files: what is a number, what else they hold, what damage leaves."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.ingest import filelogger, tensorboard
from sitegen.ingest.source import Source

from .events import event, field, file, record, scalar, single, tensor, version
from .reading import Reading, gathered, reading


def read(data: bytes) -> Reading:
    return reading(data, tensorboard)


def f32(value: float) -> float:
    return float(np.float32(value))


def test_scalars_of_one_step_are_one_record() -> None:
    found = read(file(event(1, scalar("a", 0.5)), event(1, scalar("b", 2.0)), event(2, scalar("a", 0.25))))
    assert found.rows == [(1, {"a": 0.5, "b": 2.0}), (2, {"a": 0.25})]
    assert found.problems == []


def test_a_float32_is_handed_out_as_the_double_that_equals_it() -> None:
    found = read(file(event(1, scalar("a", 0.1))))
    assert found.rows == [(1, {"a": f32(0.1)})]
    assert found.facts == {"precision": "float32"}


def test_the_time_of_a_record_is_that_of_its_first_value() -> None:
    found = read(file(event(1, scalar("a", 1), time=100.5), event(1, scalar("b", 1), time=101.0)))
    assert found.times == [100.5]


def test_a_tag_that_comes_again_begins_another_record() -> None:
    found = read(file(*(event(3, scalar("a", v)) for v in (1, 2)), event(3, scalar("b", 3))))
    assert found.rows == [(3, {"a": 1.0}), (3, {"a": 2.0, "b": 3.0})]


def test_many_values_in_one_event() -> None:
    assert read(file(event(4, scalar("a", 1), scalar("b", 2)))).rows == [(4, {"a": 1.0, "b": 2.0})]


def test_step_zero_is_not_written_and_negative_steps_are_no_steps() -> None:
    found = read(file(event(0, scalar("a", 1)), event(-5, scalar("a", 2)), event(-1, scalar("b", 2))))
    assert found.rows == [(0, {"a": 1.0}), (-1, {"b": 2.0})]
    assert found.kinds == ["no-step"]


@pytest.mark.parametrize(("value", "raw"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_values_that_are_not_finite(value: float, raw: str) -> None:
    found = read(file(event(1, scalar("a", 1)), event(2, scalar("a", value))))
    assert found.rows == [(1, {"a": 1.0}), (2, {})]
    assert found.odd == [(2, "a", raw)]


TENSORS = [
    (tensor("a", 1, field(4, struct.pack("<f", 0.5))), 0.5),
    (tensor("a", 1, single(5, 0.5)), 0.5),
    (tensor("a", 1, field(5, struct.pack("<f", 0.5))), 0.5),
    (tensor("a", 2, field(4, struct.pack("<d", 0.1))), 0.1),
    (tensor("a", 2, field(6, struct.pack("<d", 0.1))), 0.1),
    (tensor("a", 3, field(4, struct.pack("<i", -7))), -7.0),
    (tensor("a", 3, field(7, -7)), -7.0),
    (tensor("a", 9, field(10, b"\x80\x02")), 256.0),
    (tensor("a", 9, field(4, struct.pack("<q", 2**40))), float(2**40)),
    (tensor("a", 10, field(11, 1)), 1.0),
    (tensor("a", 19, field(4, struct.pack("<e", 0.5))), 0.5),
]


@pytest.mark.parametrize(("value", "number"), TENSORS)
def test_a_number_in_a_tensor(value: bytes, number: float) -> None:
    """Twice, because an event like the one before is read another way."""
    found = read(file(event(1, value), event(2, value)))
    assert found.rows == [(1, {"a": number}), (2, {"a": number})]
    assert found.problems == []


def test_halves_in_their_typed_field() -> None:
    bfloat = tensor("a", 14, field(13, 0x3FC0))
    half = tensor("b", 19, field(13, 0x3800))
    assert read(file(event(1, bfloat, half))).rows == [(1, {"a": 1.5, "b": 0.5})]


def test_doubles_are_not_called_float32() -> None:
    found = read(file(event(1, scalar("a", 1), tensor("b", 2, field(6, struct.pack("<d", 0.1))))))
    assert found.facts == {}


def test_what_is_no_number_is_told_once_per_kind() -> None:
    histogram = field(1, "grads") + field(5, field(1, 0.0))
    words = tensor("val/generations", 7, field(8, "2+2=4"), plugin="text")
    found = read(file(event(1, histogram), event(2, histogram), event(2, words), event(2, scalar("a", 1))))
    assert found.rows == [(2, {"a": 1.0})]
    assert [(p.kind, "2 in the file" in p.message) for p in found.problems] == [
        ("unsupported", True),
        ("unsupported", False),
    ]
    assert "histogram" in found.problems[0].message and "grads" in found.problems[0].message
    assert "val/generations" in found.problems[1].message


def test_a_file_with_nothing_but_its_version_says_so() -> None:
    found = read(version())
    assert (found.rows, found.kinds) == ([], ["empty"])


def test_text_that_holds_settings_is_configuration() -> None:
    table = "|param|value|\n|-|-|\n|lr|1e-06|\n|trainer.n|8|"
    given_json = '{"trainer": {"n": 8, "resume": null}, "lr": 1e-6}'
    for words in (table, given_json):
        found = read(
            file(event(0, tensor("hyperparameters/text_summary", 7, field(8, words), plugin="text")))
        )
        assert found.config["trainer.n"] == "8" and found.config["lr"] == "1e-06"
        assert found.problems == []


def test_hparams_are_configuration() -> None:
    def entry(key: str, value: bytes) -> bytes:
        return field(1, field(1, key) + field(2, value))

    started = entry("lr", field(2, 1e-6)) + entry("n", field(2, 8.0)) + entry("m", field(3, "qwen"))
    started += entry("kl", field(4, 1))
    metadata = field(1, field(1, "hparams") + field(2, field(3, started)))
    found = read(file(event(0, field(1, "_hparams_/session_start_info") + field(9, metadata))))
    assert found.config == {"lr": "1e-06", "n": "8", "m": "qwen", "kl": "True"}


@pytest.mark.parametrize("length", range(1, 30))
def test_short_events_with_long_steps_are_read_like_others(length: int) -> None:
    """A step of up to ten bytes, and less behind it than a tag needs."""
    odd = record(
        field(1, 1.0) + b"\x10" + b"\x80" * (min(length, 10) - 1) + b"\x01" + b"\x2a\x00" * (length % 3)
    )
    found = read(file(GOOD[0], odd, GOOD[1]))
    assert [row for row in found.rows if row[1]] == ROWS[:2]


# --- damage ----------------------------------------------------------------------------------

GOOD = [event(step, scalar("a", step), scalar("b", 2 * step)) for step in range(1, 9)]
ROWS = [(step, {"a": float(step), "b": 2.0 * step}) for step in range(1, 9)]


def test_a_torn_tail_keeps_what_precedes_and_names_the_byte() -> None:
    whole = file(*GOOD)
    found = read(whole[:-3])
    assert found.rows == ROWS[:-1]
    (problem,) = found.problems
    assert (problem.kind, problem.path) == ("truncated", "run/train.log")
    assert f"byte {len(whole) - len(GOOD[-1])}" in problem.message


def test_a_wrong_number_is_left_out_and_told() -> None:
    data = bytearray(file(*GOOD))
    at = len(file(*GOOD[:4])) - 6
    data[at] ^= 0x10
    found = read(bytes(data))
    assert found.rows == [*ROWS[:3], *ROWS[4:]]
    assert found.kinds == ["damaged"]
    assert str(len(file(*GOOD[:3]))) in found.problems[0].message


@pytest.mark.parametrize("place", [0, 5, 7, 9])
def test_behind_a_damaged_length_reading_goes_on(place: int) -> None:
    data = bytearray(file(*GOOD))
    data[len(file(*GOOD[:3])) + place] ^= 0x41
    found = read(bytes(data))
    assert found.rows == [*ROWS[:3], *ROWS[4:]]
    start, end = len(file(*GOOD[:3])), len(file(*GOOD[:4]))
    assert [p.message.partition(":")[0] for p in found.problems] == [
        f"damaged from byte {start} to byte {end}"
    ]


def test_zeros_behind_the_end_are_one_damaged_place() -> None:
    found = read(file(*GOOD) + bytes(300_000))
    assert found.rows == ROWS
    assert found.kinds == ["damaged"]


def test_a_sound_record_that_is_no_event_is_told() -> None:
    found = read(file(GOOD[0], record(b"\xff\xff\xff"), GOOD[1]))
    assert found.rows == ROWS[:2]
    assert found.kinds == ["malformed"]


def test_a_record_longer_than_any_event_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.ingest.tfrecord.MAX_RECORD", 1000)
    monkeypatch.setattr("sitegen.ingest.tfrecord.BLOCK", 500)
    found = read(file(GOOD[0], record(bytes(3000)), GOOD[1]))
    assert found.rows == ROWS[:2]
    assert found.kinds == ["too-long"]


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_records_that_cross_stretches(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.ingest.tfrecord.BLOCK", block)
    found = read(file(*GOOD))
    assert found.rows == ROWS
    assert found.problems == []


@given(flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=6))
def test_flipped_bits_lose_only_the_records_they_hit(flips: list[tuple[int, int]]) -> None:
    data = bytearray(file(*GOOD))
    for place, mask in flips:
        data[place % len(data)] ^= mask
    found = read(bytes(data))
    sound = [row for i, row in enumerate(ROWS) if GOOD[i] in bytes(data)]
    assert all(row in found.rows for row in sound)
    assert all(row in ROWS for row in found.rows)
    assert bytes(data) == file(*GOOD) or found.problems


@given(end=st.integers(0, len(file(*GOOD))))
def test_a_file_cut_anywhere_keeps_its_whole_records(end: int) -> None:
    found = read(file(*GOOD)[:end])
    kept = sum(len(file(*GOOD[: i + 1])) <= end for i in range(len(GOOD)))
    assert found.rows == ROWS[:kept]


@given(data=st.binary(max_size=400))
def test_whatever_a_record_holds_nothing_is_raised(data: bytes) -> None:
    read(file(record(data), record(field(1, 1.0) + field(5, field(1, data))), event(1, scalar("a", 1))))


# --- against TensorBoard itself --------------------------------------------------------------


def official(path: Path) -> list[tuple[int, str, float]]:
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    found = []
    for each in EventFileLoader(str(path)).Load():
        for value in each.summary.value:
            if value.metadata.plugin_data.plugin_name == "scalars":
                found.append((each.step, value.tag, float(tensor_util.make_ndarray(value.tensor))))
    return found


def ours(path: Path) -> list[tuple[int, str, float]]:
    found = gathered(tensorboard.read(Source(path.name, path)))
    finite = [(step, name, value) for step, values in found.rows for name, value in values.items()]
    return [*finite, *((step, name, float(raw)) for step, name, raw in found.odd)]


def comparable(found: list[tuple[int, str, float]]) -> list[tuple[int, str, str]]:
    return sorted((step, name, repr(value)) for step, name, value in found)


def test_what_tensorboard_writes_is_read_as_tensorboard_reads_it(tmp_path: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path))
    for step, value in enumerate([0.1, math.nan, -math.inf, 3e-42, 1e38]):
        for tag in ("critic/score/mean", "val-core/x@4", "a" * 200, "得分"):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=summary))
    writer.close()
    (path,) = tmp_path.iterdir()
    assert len(ours(path)) == 20
    assert comparable(ours(path)) == comparable(official(path))


# --- real files ------------------------------------------------------------------------------


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "steps"),
    [
        ("055-tb-gsm8k_qwen2_7b_async", 106),
        ("056-tb-gsm8k_qwen2_7b_base", 106),
        ("066-tb-dapo-qwen2-7b-test", 0),
        ("069-tb-dapo-qwen2-7b-test", 3),
    ],
)
def test_real_event_files_are_read_as_tensorboard_reads_them(corpus: Path, folder: str, steps: int) -> None:
    (path,) = (corpus / "logs" / folder).iterdir()
    found = gathered(tensorboard.read(Source(path.name, path)))
    assert found.steps == list(range(steps))
    assert comparable(ours(path)) == comparable(official(path))
    assert found.kinds == ([] if steps else ["empty"])


@pytest.mark.corpus
def test_a_run_of_verl_has_every_value_of_its_file_logger(corpus: Path) -> None:
    """In float32, and with the NaN and infinities that the FileLogger writes as null."""
    folder = corpus / "trackers"
    events, _ = sorted((folder / "tensorboard/tensorboard_log/demo_proj/qwen2.5-7b-grpo_1").iterdir())
    (truth,) = (folder / "file/demo_proj").iterdir()
    found = gathered(tensorboard.read(Source(events.name, events)))
    expected = gathered(filelogger.read(Source(truth.name, truth)))
    assert found.rows == [(s, {n: f32(v) for n, v in row.items()}) for s, row in expected.rows]
    assert sorted((s, n) for s, n, _ in found.odd) == sorted((s, n) for s, n, _ in expected.odd)
    assert sorted(found.odd) == [
        (17, "actor/grad_norm", "nan"), (23, "actor/pg_loss", "-inf"), (23, "actor/ppo_kl", "inf")
    ]  # fmt: skip


def generations(step: int, *samples: tuple[str, str, object]) -> bytes:
    """The text that verl sends of a validation."""
    words = f"**Generation Results - Step {step}**\n\n"
    for i, (prompt, output, score) in enumerate(samples, 1):
        words += (
            f"### Sample {i}\n**Input:** {prompt}\n\n**Output:** {output}\n\n**Score:** {score}\n\n---\n\n"
        )
    return event(step, tensor("val/generations/text_summary", 7, field(8, words), plugin="text"))


def test_samples_of_validations_are_read_from_their_text() -> None:
    found = read(
        file(generations(10, ("q\n\n---\n\nx", "a", 1.0), ("r", "", "nan")), generations(20, ("q", "b", 0)))
    )
    assert [(s.kind, s.step, s.input, s.output, s.score) for s in found.samples] == [
        ("validation", 10, "q\n\n---\n\nx", "a", 1.0), ("validation", 10, "r", "", None),
        ("validation", 20, "q", "b", 0.0),
    ]  # fmt: skip
    assert found.problems == []


@pytest.mark.parametrize(
    "answer", ["a\n\n**Score:** 1\n\n---\n\n### Sample 2\n**Input:** x", "a\n\n**Output:** b"]
)
def test_a_text_whose_samples_cannot_be_told_apart_is_told_and_not_guessed(answer: str) -> None:
    found = read(file(generations(10, ("q", answer, 1.0), ("r", "b", 0.0))))
    assert (found.samples, [p.kind for p in found.problems]) == ([], ["unsupported"])
