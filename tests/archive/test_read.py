"""Reading an archive back."""

from __future__ import annotations

import math

import pytest

from sitegen.archive import runjson
from sitegen.errors import ArchiveError
from tests.archive.conftest import Made, curve


def test_series_hold_values_segments_and_what_was_not_finite(made: Made) -> None:
    lines = (
        '{"step":1,"data":{"actor/entropy":0.5}}',
        '{"step":2,"data":{"actor/entropy":NaN,"y":1}}',
        '{"step":1,"data":{"actor/entropy":0.25}}',
    )
    made.file("a/m.jsonl", "\n".join(lines) + "\n")
    run = made.run()
    series = made.archive.series(run.id)
    entropy = series["actor/entropy"]
    assert (entropy.name, entropy.metric) == ("actor/entropy", "entropy")
    assert entropy.steps.tolist() == [1, 2, 1] and entropy.segments.tolist() == [0, 0, 1]
    assert entropy.live.tolist() == [False, True, True]
    assert entropy.values.tolist()[0] == 0.5 and math.isnan(entropy.values[1]) and entropy.values[2] == 0.25
    assert entropy.non_finite == ((2, "nan"),)
    assert series["y"].non_finite == ()


def test_series_say_which_records_lost_their_end(made: Made) -> None:
    made.file("a/m.jsonl", '{"step":1,"data":{"x":0.5}}\n{"step":2,"data":{"x":0.75,"y":0.1')
    cut = made.archive.series(made.run().id)["x"].cut
    assert cut is not None and cut.tolist() == [False, True]


def test_series_may_be_asked_for_by_name(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(1, 3))
    run = made.run()
    assert list(made.archive.series(run.id, ["actor/grad_norm", "not logged"])) == ["actor/grad_norm"]


def test_log_lines_come_back_as_they_were_kept(made: Made) -> None:
    made.console(
        "a/train.log", [*curve(1, 3), "torch.OutOfMemoryError: CUDA out of memory. ask jane@lab.example.org"]
    )
    run = made.run()
    (line,) = [line for line in made.archive.log_lines(run.id) if "memory" in line.text]
    assert (line.path, line.line, line.step) == ("a/train.log", 4, 3)
    assert "jane" not in line.text and "[redacted:email]" in line.text
    assert [p.kind for p in run.problems if p.kind == "redacted"] == ["redacted"]


def test_a_run_survives_the_way_to_json_and_back(made: Made) -> None:
    made.jsonl("a/m.jsonl", [*curve(1, 3), (4, {"x": None})])
    made.file("a/run.toml", 'tags = ["x"]\nowner = "Ünal 李"\n')
    run = made.run()
    assert runjson.loads(runjson.dumps(run, {"c": "n"})) == (run, {"c": "n"})


@pytest.mark.parametrize("run", ["nothing", "../a", ".new-a", ""])
def test_an_unknown_run_is_an_error_that_names_it(made: Made, run: str) -> None:
    made.jsonl("a/m.jsonl", curve(1, 3))
    made.update()
    with pytest.raises(ArchiveError, match="no run"):
        made.archive.run(run)


def test_a_damaged_run_json_says_what_to_do(made: Made) -> None:
    made.jsonl("a/m.jsonl", curve(1, 3))
    made.update()
    (made.home / "archive/a/run.json").write_text("{}")
    with pytest.raises(ArchiveError, match="build again"):
        made.archive.run("a")


def test_an_archive_that_was_never_built_is_empty(made: Made) -> None:
    archive = made.archive
    assert (archive.runs(), archive.problems(), archive.ignored(), archive.removed(), archive.now()) == (
        (),
        (),
        (),
        (),
        None,
    )


def test_now_is_the_newest_time_stamp_of_all_runs(made: Made) -> None:
    for name, start in (("a", 1767607200), ("b", 1767693600)):
        made.flat(f"{name}/m.jsonl", [{"step": s, "timestamp": start + s, "x": 0.5} for s in range(3)])
    made.update()
    assert made.archive.now() == 1767693602.0


def test_the_cache_keeps_bytes_by_room_and_key(made: Made) -> None:
    archive = made.archive
    assert archive.cached("reports", "k") is None
    archive.keep("reports", "k", b"one")
    archive.keep("reports", "l/" + "x" * 300, b"two")
    archive.keep("other", "k", b"three")
    assert (archive.cached("reports", "k"), archive.cached("other", "k")) == (b"one", b"three")
    archive.prune("reports", ["l/" + "x" * 300])
    assert archive.cached("reports", "k") is None
    assert archive.cached("reports", "l/" + "x" * 300) == b"two"
    assert archive.cached("other", "k") == b"three"


def test_a_secret_in_a_metric_name_is_not_stored(made: Made) -> None:
    token = "hf" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5"
    made.jsonl("a/m.jsonl", [(1, {f"score/{token}": 0.5, "x": 1}), (2, {f"score/{token}": None, "x": 2})])
    run = made.run()
    assert sorted(made.archive.columns(run.id).values()) == ["score/[redacted:hf-token]", "x"]
    assert [row[2] for row in made.extras()] == ["score/[redacted:hf-token]"]
    assert [p.kind for p in run.problems] == ["redacted"]
