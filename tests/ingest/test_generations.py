"""verl's dumps of generations, of every version, as users leave them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sitegen.errors import Problem
from sitegen.ingest import generations, sniff
from sitegen.ingest.source import Source
from sitegen.model import Sample
from tests.ingest.reading import Text

V0 = {"input": "2+2?", "output": "4", "score": 1.0, "step": 7}


def read(*records: object, path: str = "run/rollouts/7.jsonl") -> tuple[list[Sample], list[Problem]]:
    """Samples and problems of lines; a text is a line as it stands, anything else is written as JSON."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    text = Text("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass"), path)
    batches = list(generations.read(text))  # type: ignore[arg-type]
    found = [sample for batch in batches for sample in batch.samples]
    return found, [problem for batch in batches for problem in batch.problems]


def only(record: object, path: str = "run/rollouts/7.jsonl") -> Sample:
    (found,), problems = read(record, path=path)
    assert problems == []
    return found


def test_a_dump_of_verl_0_4() -> None:
    assert only(V0) == Sample("rollout", 7, 1, "2+2?", "4", None, 1.0, {})


def test_keys_of_the_reward_function_are_kept_as_they_stand() -> None:
    found = only({**V0, "gts": "4", "acc": True, "pred": None, "request_id": "a", "deep": {"k": [1]}})
    assert found.expected == "4"
    assert found.extra == {"acc": True, "pred": None, "request_id": "a", "deep": {"k": [1]}}


@pytest.mark.parametrize("score", ["NaN", "-Infinity", '"n/a"', "null", '"nan"', "[1]"])
def test_a_score_that_is_no_finite_number_is_absent_and_kept(score: str) -> None:
    found = only(f'{{"input": "q", "output": "a", "score": {score}, "step": 1}}')
    assert found.score is None
    assert "score" in found.extra


def test_a_score_that_json_wrote_as_text_is_a_number() -> None:
    assert only({**V0, "score": "0.5"}).score == 0.5


def test_a_fork_with_other_names() -> None:
    found = only({"prompt": "q", "response": "a", "ground_truth": ["4"], "reward": 2, "global_step": 3})
    assert (found.input, found.output, found.expected) == ("q", "a", '["4"]')
    assert (found.score, found.step, found.extra) == (2.0, 3, {})


def test_a_list_of_messages_becomes_text() -> None:
    assert only({**V0, "input": [{"role": "user", "content": "2+2?"}]}).input == (
        '[{"role": "user", "content": "2+2?"}]'
    )


def test_without_a_step_the_name_of_the_file_tells_it() -> None:
    record = {"input": "q", "output": "a", "score": 0}
    assert only(record, "run/rollouts/120.jsonl").step == 120
    assert only(record, "run/val/global_step_40.jsonl").step == 40
    assert only(record, "run/rollouts/all.jsonl").step is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("run/rollouts/1.jsonl", "rollout"),
        ("run/rollout_data_dir/1.jsonl", "rollout"),
        ("run/validation_data/1.jsonl", "validation"),
        ("run/val_generations/1.jsonl", "validation"),
        ("run/dumps/val/1.jsonl", "validation"),
        ("run/validation_data/dumps/1.jsonl", "validation"),
        ("run/val_12.jsonl", "validation"),
        ("run/dumps/1.jsonl", None),
        ("validation-of-qwen/dumps/1.jsonl", None),  # a run's name says nothing of the dump
        ("validation/run-7b/dumps/1.jsonl", None),
    ],
)
def test_folders_tell_rollouts_from_validations(path: str, kind: str | None) -> None:
    assert generations.kind_of(path) == kind


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"request_id": "a"}, "rollout"),
        ({"gts": "4", "uid": "u_0_0"}, "rollout"),
        ({"gts": "4", "reward": 1.0, "uid": "u_0_0"}, "validation"),
        ({"gts": "4", "acc": True}, "samples"),
    ],
)
def test_where_folders_are_silent_keys_tell(more: dict[str, object], kind: str) -> None:
    assert only({**V0, **more}, "run/dumps/7.jsonl").kind == kind


def test_a_broken_line_in_the_middle_is_a_problem_and_the_rest_is_read() -> None:
    found, problems = read(V0, "not JSON at all", {**V0, "output": "5"})
    assert [(one.line, one.output) for one in found] == [(1, "4"), (3, "5")]
    assert [(p.path, p.line, p.kind) for p in problems] == [("run/rollouts/7.jsonl", 2, "malformed")]


def test_a_torn_last_line_keeps_what_it_holds() -> None:
    text = Text(
        b'{"input": "q", "output": "a", "score": 0.5, "step": 7, "pred": "unfin', "run/rollouts/7.jsonl"
    )
    first, second = generations.read(text)  # type: ignore[arg-type]
    assert [(one.output, one.score) for one in first.samples] == [("a", 0.5)]
    assert [problem.kind for problem in second.problems] == ["truncated"]


def test_a_record_without_an_answer_is_a_problem() -> None:
    found, problems = read(V0, {"input": "q", "score": 1})
    assert len(found) == 1
    assert [problem.line for problem in problems] == [2]


def test_a_million_bad_lines_stay_few_problems() -> None:
    _, problems = read(V0, *["{}"] * 5000)
    assert len(problems) == 21
    assert "4980 more lines are no generation" in problems[-1].message


def test_a_line_of_a_megabyte_is_read() -> None:
    assert len(only({**V0, "output": "ab " * 400_000}).output) == 1_200_000


def test_half_a_surrogate_is_replaced() -> None:
    assert only('{"input": "q", "output": "a\\ud800b", "score": 1, "step": 1}').output == "a?b"


def test_extra_keys_nested_without_end_do_not_stop_the_reader() -> None:
    deep = "[" * 2000 + "]" * 2000
    found, problems = read(V0, f'{{"input": "q", "output": "a", "score": 1, "deep": {deep}}}')
    assert (len(found), len(problems)) == (2, 1)


def claimed(tmp_path: Path, text: str) -> str | None:
    file = tmp_path / "7.jsonl"
    file.write_text(text)
    form = sniff(Source("run/x/7.jsonl", file))
    return form.NAME if form else None


def test_dumps_are_claimed_by_content(tmp_path: Path) -> None:
    assert claimed(tmp_path, json.dumps(V0) + "\n") == "generations"
    assert claimed(tmp_path, json.dumps({**V0, "input": "x" * 200_000}) + "\n") == "generations"


def test_a_dump_that_begins_with_a_broken_line_is_still_one(tmp_path: Path) -> None:
    assert claimed(tmp_path, '{"input": "q", "outp\n' + json.dumps(V0) + "\n") == "generations"


def test_a_data_set_of_questions_and_answers_is_no_dump(tmp_path: Path) -> None:
    pair = {"instruction": "add", "input": "2 2", "output": "4"}
    assert claimed(tmp_path, json.dumps(pair) + "\n") != "generations"


@pytest.mark.corpus
def test_dumps_of_both_trainers(corpus: Path) -> None:
    for version, expected in (("v0", ["3", {"k": "0.5"}]), ("v1", [3, [1, 2]])):
        source = Source(f"dumps/{version}/7.jsonl", corpus / "trackers" / "dumps" / version / "7.jsonl")
        found = [sample for batch in generations.read(source) for sample in batch.samples]
        assert [(one.step, one.score) for one in found] == [(7, 1.0), (7, None)]
        assert [one.extra["extra"] for one in found] == expected
        assert found[1].input == "<p>2+2?"


@pytest.mark.corpus
def test_a_dump_of_a_fork(corpus: Path) -> None:
    file = corpus / "logs" / "088-sdpo-rollouts-1-row3.jsonl"
    form = sniff(Source(file.name, file))
    assert form is generations
    (found,) = [sample for batch in generations.read(Source(file.name, file)) for sample in batch.samples]
    assert (found.step, found.score, found.extra["incorrect_format"]) == (1, 1.0, 0)
