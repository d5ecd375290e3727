"""Which of the dumped generations are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from sitegen.archive.samples import SampleFile
from sitegen.model import Incident, Sample
from sitegen.reports import dumps, samples
from sitegen.reports.excerpts import Abreast, SamplesReport, StepSamples
from tests.reports import made

Answer = tuple[int | None, str, str, float | None]  # step, prompt, answer, score


def choose(
    folder: Path, answers: Iterable[Answer], incidents: Sequence[Incident] = (), kind: str = "rollout"
) -> SamplesReport:
    """The choice from dumped answers, in their order."""
    with SampleFile(folder) as file:
        for line, (step, prompt, answer, score) in enumerate(answers, 1):
            extra = {"score": "NaN", "acc": True} if score is None else {"acc": True}
            file.add("a/x.jsonl", [Sample(kind, step, line, prompt, answer, "4", score, extra)])
    run = replace(made.run(), generations=file.counts())
    return samples.choose(run, incidents, folder / "samples.parquet")


def at(step: int, severity: str = "error", rule: str = "KL-05") -> Incident:
    return made.incident(rule, severity, step)


def roles(step: StepSamples) -> dict[str, str]:
    return {role: sample.output.head for sample in step.chosen for role in sample.roles}


def answers(one: Abreast) -> list[tuple[int | None, str]]:
    return [(sample.step, sample.output.head) for sample in one.samples]


def test_of_a_step_best_worst_longest_and_a_random_one(tmp_path: Path) -> None:
    found = choose(tmp_path, [(1, f"q{i}", "x" * (50 - i), i / 40) for i in range(40)])
    (step,) = found.steps
    shown = roles(step)
    assert (len(shown["best"]), len(shown["worst"]), len(shown["longest"])) == (11, 50, 50)
    assert "random" in shown
    assert len(step.chosen) <= 3  # the worst is the longest: shown once
    assert (step.rows, step.scored, step.low, step.high) == (40, 40, 0.0, 0.975)


def test_the_random_one_is_the_same_in_each_build(tmp_path: Path) -> None:
    many = [(1, f"q{i}", f"a{i}", 0.5) for i in range(1000)]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert choose(tmp_path / "one", many) == choose(tmp_path / "two", many)


def test_where_all_score_alike_none_is_best(tmp_path: Path) -> None:
    (step,) = choose(tmp_path, [(1, "q", "a", 0.0), (1, "r", "bb", 0.0)]).steps
    assert set(roles(step)) == {"random", "longest"}


def test_scores_that_are_no_numbers_are_shown_as_logged(tmp_path: Path) -> None:
    (step,) = choose(tmp_path, [(1, "q", "a", None)]).steps
    (sample,) = step.chosen
    assert (step.mean, step.scored, sample.score, sample.raw_score) == (None, 0, None, "NaN")
    assert sample.extra is not None
    assert sample.extra.head == "acc: true"


def test_samples_without_a_step_are_shown(tmp_path: Path) -> None:
    (step,) = choose(tmp_path, [(None, "q", "a", 1.0)]).steps
    assert (step.step, len(step.chosen)) == (None, 1)


def test_of_many_steps_first_last_and_those_around_onsets(tmp_path: Path) -> None:
    found = choose(tmp_path, [(step, f"q{step}", "a", 0.5) for step in range(1, 201)], [at(77)])
    shown = [step.step for step in found.steps if step.chosen]
    assert len(shown) == samples.SHOWN
    assert {1, 76, 77, 200} <= set(shown)
    assert len(found.steps) == 200
    gaps = [b - a for a, b in pairwise(shown) if a and b]
    assert max(gaps) <= 50


def test_around_an_onset_the_same_prompt_before_at_and_after(tmp_path: Path) -> None:
    def answer(step: int, prompt: str) -> Answer:
        return (step, prompt, f"{prompt} at {step}", 0.0 if prompt == "bad" and step >= 20 else 1.0)

    everything = [answer(step, prompt) for step in (10, 15, 20, 30, 40) for prompt in ("good", "bad", "fine")]
    (moment,) = choose(tmp_path, everything, [at(18)], "validation").moments
    assert (moment.onset, moment.anchors) == (18, ("KL-05-1",))
    assert answers(moment.compared[0]) == [(15, "bad at 15"), (20, "bad at 20"), (30, "bad at 30")]
    assert moment.compared[0].means == (1.0, 0.0, 0.0)
    assert len(moment.compared) == 2


def test_where_no_prompt_recurs_typical_answers_are_shown(tmp_path: Path) -> None:
    everything = [(step, f"q{step}-{i}", f"{i}", i / 10) for step in (10, 20) for i in range(11)]
    (moment,) = choose(tmp_path, everything, [at(15)]).moments
    (one,) = moment.compared
    assert not one.same_prompt
    assert answers(one) == [(10, "5"), (20, "5")]


def test_onsets_without_dumps_on_both_sides_and_remarks_have_no_moment(tmp_path: Path) -> None:
    everything = [(step, "q", "a", 1.0) for step in (10, 20)]
    found = choose(tmp_path, everything, [at(5), at(25), at(15, "info")])
    assert found.moments == ()


def test_incidents_of_one_onset_share_a_moment(tmp_path: Path) -> None:
    everything = [(step, "q", "a", 1.0) for step in (10, 20)]
    (moment,) = choose(tmp_path, everything, [at(15), at(15, rule="GRD-01")]).moments
    assert moment.anchors == ("KL-05-1", "GRD-01-1")


def test_what_changed_most_for_the_same_prompt(tmp_path: Path) -> None:
    everything: list[Answer] = [(step, f"q{i}", "same", 0.5) for step in (1, 2, 3) for i in range(9)]
    everything += [(1, "fell", "right", 1.0), (3, "fell", "wrong", 0.0)]
    first, *_ = choose(tmp_path, everything).changed
    assert answers(first) == [(1, "right"), (3, "wrong")]
    assert first.means == (1.0, 0.0)


def test_of_equal_changes_each_step_has_its_turn(tmp_path: Path) -> None:
    pairs = ((1, 2, "early"), (5, 6, "late"))
    everything: list[Answer] = []
    for first, second, name in pairs:
        everything += [(first, f"{name}{i}", "same", 1.0) for i in range(9)]
        everything += [(second, f"{name}{i}", "same", 0.0) for i in range(9)]
    found = choose(tmp_path, everything).changed
    assert sorted(one.samples[0].step or 0 for one in found) == [1, 1, 5, 5]


def test_without_scores_the_length_tells_what_changed(tmp_path: Path) -> None:
    everything: list[Answer] = [(1, "q", "a", None), (2, "q", "b", None)]
    everything += [(1, "r", "a", None), (2, "r", "much longer", None)]
    first, second = choose(tmp_path, everything).changed
    assert answers(first) == [(1, "a"), (2, "much longer")]
    assert answers(second) == [(1, "a"), (2, "b")]


def test_of_too_many_rows_only_the_steps_shown_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "ALL", 10)
    monkeypatch.setattr("sitegen.archive.textrows.GROUP", 200)  # many row groups
    everything = [
        (step, f"q{i}", f"{step}", 1.0 if step < 50 else 0.0) for step in range(100) for i in range(3)
    ]
    found = choose(tmp_path, everything, [at(50)])
    assert not found.all_looked_at
    assert answers(found.moments[0].compared[0]) == [(49, "49"), (50, "50"), (51, "51")]
    assert [pair[0] for pair in answers(found.changed[0])] == [49, 50]
    assert sum(bool(step.chosen) for step in found.steps) == samples.SHOWN


def test_rows_are_found_in_any_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitegen.archive.textrows.GROUP", 100)
    choose(tmp_path, [(i // 7, f"q{i}", f"a{i}", float(i)) for i in range(200)])
    with dumps.Dumps(tmp_path / "samples.parquet") as found:
        assert [row["output"] for row in found.texts([0, 77, 199]).values()] == ["a0", "a77", "a199"]
        step = found.steps()[5]
        assert found.numbers([step]).of(step).score.tolist() == [float(i) for i in range(35, 42)]
