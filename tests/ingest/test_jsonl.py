"""JSON lines of any mixture are read the same, whatever lies beside them in a stretch or a block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.ingest import filelogger, jsonl, jsonrows, seed_metrics
from sitegen.ingest.source import Source
from tests.ingest.reading import Reading, Text, reading

NAMES = ("a", "b", "c:d", 'e"\\:', "f/g", "loss")
NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(-(2**70), 2**70), st.booleans()
)
ODD = st.one_of(
    st.none(),
    st.sampled_from(["NaN", "text", 'a":1', "10:30"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(NAMES), st.one_of(st.floats(), st.none()), max_size=3),
)
PLAIN = st.dictionaries(st.sampled_from(NAMES), NUMBERS, max_size=4)
MIXED = st.dictionaries(st.sampled_from(NAMES), st.one_of(NUMBERS, ODD), max_size=4)


def text(step: int, data: object) -> str:
    return json.dumps({"step": step, "data": data})


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A record, plain or odd, spaced in any way; or one that is torn, glued, foreign or repeats a name."""
    whole = text(draw(st.integers(-1, 50)), draw(st.one_of(PLAIN, PLAIN, MIXED)))
    damaged = st.sampled_from(
        [
            whole[: len(whole) // 2],
            whole[: len(whole) // 2] + whole,
            whole.replace(": ", " :"),
            whole.replace("{", '{"a": 7, "a": 8, ', 1),
            whole.replace('"data": {', '"data": {"b": 1, "b":2,'),
            '{"step": "x", "data": {}}',
            "[1, 2]",
            "oops: not JSON",
            "\0\0 \r",
        ]
    )
    return draw(st.one_of(st.just(whole), st.just(whole), damaged)).encode()


def read(content: bytes, stretch: int, block: int, cells: int = jsonrows.CELLS) -> Reading:
    """What is found when blocks are as small as these; a mixture of blocks leaves no trace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "STRETCH", stretch)
        patch.setattr(jsonrows, "BLOCK", block)
        patch.setattr(jsonrows, "CELLS", cells)
        return reading(content, filelogger)


def facts(found: Reading) -> tuple[object, ...]:
    odd = sorted(found.odd)  # within a block by metric
    return found.rows, found.lines, odd, found.cut, found.problems


@given(st.lists(lines(), max_size=12), st.booleans())
def test_blocks_of_any_size_hold_what_lines_alone_hold(found: list[bytes], ended: bool) -> None:
    content = b"\n".join(found) + (b"\n" if ended else b"")
    alone = facts(read(content, stretch=1, block=1))
    assert facts(read(content, stretch=1 << 20, block=1 << 20)) == alone
    assert facts(read(content, stretch=70, block=200, cells=3)) == alone


def expected(found: Sequence[dict[str, object]]) -> list[tuple[int, dict[str, float]]]:
    return [
        (
            i,
            {
                name: float(cast(float, value))
                for name, value in data.items()
                if abs(float(cast(float, value))) < 1e999
            },
        )
        for i, data in enumerate(found)
    ]


@given(st.lists(PLAIN, max_size=12))
def test_records_of_numbers_are_kept_value_for_value(found: list[dict[str, object]]) -> None:
    content = "\n".join(text(i, data) for i, data in enumerate(found))
    assert reading(content, filelogger).rows == expected(found)


@pytest.mark.parametrize("before", [0, 1, 40])
def test_a_repeat_among_many_lines_is_told_with_its_line(before: int) -> None:
    clean = [text(i, {"a": 1.0, "c:d": 2.0}) for i in range(before)]
    content = "\n".join([*clean, '{"step": 99, "data": {"a": 1, "b": 3, "a": 2}}', text(100, {"a": 1.0})])
    assert [(p.kind, p.line) for p in reading(content, filelogger).problems] == [("repeat", before + 1)]


def test_a_repeat_is_found_beside_lines_that_hold_fewer_colons_than_they_seem_to() -> None:
    escaped = '{"step": 1, "data": {"a\\u003ab": 1.0, "c\\u003ad": 2.0}}'
    content = "\n".join([escaped, escaped, '{"step": 2, "data": {"a": 1, "a": 2}}'])
    assert [(p.kind, p.line) for p in reading(content, filelogger).problems] == [("repeat", 3)]


def test_a_repeat_beside_the_step_is_told() -> None:
    content = '{"step": 1, "a": 1}\n{"step": 2, "a": 1, "a": 2}\n'
    assert [(p.kind, p.line) for p in reading(content, seed_metrics).problems] == [("repeat", 2)]


def test_many_short_lines_are_handed_on_in_bounded_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "STRETCH", 1000)
    monkeypatch.setattr(jsonrows, "BLOCK", 4000)
    content = "\n".join(text(i, {"a": i}) for i in range(1000)).encode()
    sizes = [len(batch.rows.steps) for batch in filelogger.read(cast(Source, Text(content))) if batch.rows]
    assert sum(sizes) == 1000
    assert max(sizes) * 30 < 4000 + 2 * 1000 + 30


@pytest.mark.parametrize("step", ["1e30", "1" + "0" * 18, "1" + "0" * 400, "-7"])
def test_a_step_out_of_range_is_a_problem_with_its_line(step: str) -> None:
    lines = '{"step": 1, "data": {"a/b": 0.5}}\n{"step": STEP, "data": {"a/b": 9.0}}\n'
    found = reading(lines.replace("STEP", step), filelogger)
    assert found.rows == [(1, {"a/b": 0.5})]
    (problem,) = found.problems
    assert (problem.path, problem.line) == ("run/train.log", 2)
    assert "step out of range" in problem.message
