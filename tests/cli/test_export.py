"""`sitegen export`: a folder without secrets that ingests again to the same page."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from sitegen import archive as archives
from sitegen import reports
from sitegen.archive import Archive
from sitegen.config import Config
from sitegen.site.rendering import entry, renderer
from sitegen.site.templates import environment
from tests.cli.conftest import Sitegen

RUN = "team-first"
SECRET = "hf" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5"
OPENING = (
    "{'trainer': {'project_name': 'p', 'experiment_name': 'e', 'n_gpus_per_node': 8},\n"
    f" 'actor_rollout_ref': {{'model': {{'path': 'Qwen/Q', 'token': '{SECRET}'}}}}}}\n"
)
TOML = '[mute]\n"REW-01" = "expected here"\n'


def log() -> str:
    """Two attempts, NaN, infinity, an error and a secret."""
    rows = [
        f"step:{step} - critic/score/mean:{0.1 + step * 0.013:.4f} - actor/grad_norm:{1.5 - step * 0.01:.4f}"
        f" - actor/entropy:{'nan' if step == 9 else 'inf' if step == 11 else 0.5}"
        for step in [*range(1, 31), *range(20, 41)]
    ]
    trouble = f"Traceback (most recent call last):\nValueError: token {SECRET} refused\n"
    return OPENING + "\n".join(rows) + "\n" + trouble


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "team" / "first"
    folder.mkdir(parents=True)
    (folder / "train.log").write_text(log())
    (folder / "run.toml").write_text('title = "First"\nnotes = "a note"\ntags = ["x"]\n' + TOML)
    (folder / "incidents").mkdir()
    (folder / "notes.md").write_text(f"With {SECRET} it fails.\n\nfixed by: nobody-yet\n")
    (folder / "incidents" / "LOG-09-1.md").write_text("About an incident that is not there.\n")
    (folder / "rollout").mkdir()
    (folder / "rollout" / "3.jsonl").write_text(
        json.dumps({"input": "q", "output": "a", "score": 0.5, "step": 3, "gts": "a"}) + "\n"
    )
    return tmp_path / "runs"


def page(runs: Path) -> tuple[str, str, str]:
    """HTML, API document and report of the only run."""
    home = runs.with_name(f".{runs.name}")
    archives.update(runs, home, jobs=1)
    archive = Archive(home)
    (run,) = archive.runs()
    assert run == RUN
    report = reports.build(archive, Config(runs=runs, home=home)).run(run)
    made = entry(report, renderer(environment()))
    return made.page.html, made.api, made.report_md


def test_the_page_of_the_folder_is_that_of_the_run(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    answer = sitegen("export", RUN, "-o", "elsewhere/team/first")
    assert (answer.status, answer.out) == (0, "elsewhere/team/first\n"), answer.err
    assert page(tmp_path / "elsewhere") == page(runs)


@pytest.mark.parametrize("packer", ["sitegen", "tar"])
def test_packed_in_one_file_it_gives_the_same_page(
    sitegen: Sitegen, runs: Path, tmp_path: Path, packer: str
) -> None:
    target = "elsewhere/team/first.tar.zst"
    if packer == "sitegen":
        answer = sitegen("export", RUN, "-o", target)
        assert (answer.status, answer.out) == (0, f"{target}\n"), answer.err
    else:
        sitegen("export", RUN, "-o", "folder")
        packed(tmp_path / "folder", tmp_path / target)
    assert [each.name for each in (tmp_path / "elsewhere/team").iterdir()] == ["first.tar.zst"]
    assert page(tmp_path / "elsewhere") == page(runs)


def packed(folder: Path, file: Path) -> None:
    """A `.tar.zst` of a folder, as the tools of a system make it."""
    file.parent.mkdir(parents=True)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.add(folder, "./any name")
    file.write_bytes(zstandard.ZstdCompressor().compress(out.getvalue()))


def test_packed_twice_it_is_the_same_bytes(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    for name in ("one.tar.zst", "two.tar.zst"):
        sitegen("export", RUN, "-o", name)
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()


def test_what_is_packed_says_nothing_of_who_packed_it(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    sitegen("export", RUN, "-o", "one.tar.zst")
    with (
        zstandard.open(tmp_path / "one.tar.zst", "rb") as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        found = archive.getmembers()
    assert {(each.uid, each.gid, each.uname, each.gname, each.mode) for each in found} == {
        (0, 0, "", "", 0o644)
    }
    assert len({each.mtime for each in found}) == 1
    assert {each.name.split("/")[0] for each in found} == {RUN} and found[0].name == f"{RUN}/run.json"


def test_a_packed_export_can_be_exported_again(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    sitegen("export", RUN, "-o", "one.tar.zst")
    assert sitegen("export", "one.tar.zst", "-o", "again").status == 0
    first = pq.read_table(tmp_path / ".sitegen" / "archive" / RUN / "steps.parquet")
    assert pq.read_table(tmp_path / "again" / "steps.parquet").equals(first)


def test_only_an_earlier_packed_export_is_replaced(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    assert [sitegen("export", RUN, "-o", "x.tar.zst").status for _ in range(2)] == [0, 0]
    packed(tmp_path / "runs", tmp_path / "mine/y.tar.zst")
    before = (tmp_path / "mine/y.tar.zst").read_bytes()
    answer = sitegen("export", RUN, "-o", "mine/y.tar.zst")
    assert answer.status == 2 and "is no export of sitegen" in answer.err
    assert (tmp_path / "mine/y.tar.zst").read_bytes() == before
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["y.tar.zst"]


def test_every_table_arrives_whole(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    sitegen("export", RUN, "-o", "elsewhere/team/first")
    page(runs), page(tmp_path / "elsewhere")
    for name in ("steps", "extras", "lines", "samples"):
        one, other = (
            pq.read_table(tmp_path / f".{home}" / "archive" / RUN / f"{name}.parquet")
            for home in ("runs", "elsewhere")
        )
        assert one.num_rows and one.equals(other), name


def test_no_secret_leaves(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    sitegen("export", RUN, "-o", "out")
    files = {each.name for each in (tmp_path / "out").iterdir()}
    assert files >= {"run.json", "steps.parquet", "extras.parquet", "lines.parquet", "report.md", "README.md"}
    for file in (tmp_path / "out").glob("*.parquet"):
        assert SECRET not in str(pq.read_table(file).to_pydict())
    texts = [file.read_bytes() for file in (tmp_path / "out").iterdir()]
    assert not any(SECRET.encode() in text for text in texts)
    assert any(b"[redacted:hf-token]" in text for text in texts)


def test_two_exports_are_the_same_bytes(sitegen: Sitegen, runs: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        sitegen("export", RUN, "-o", name)
    found = [{f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in ("one", "two")]
    assert found[0] == found[1]


def test_a_log_anywhere_is_exported_and_nothing_is_left_beside_it(sitegen: Sitegen, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "train.log").write_text(log())
    answer = sitegen("export", "logs/train.log", "-o", "out", "-q")
    assert (answer.status, answer.err) == (0, "")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["logs", "out"]


def test_an_unknown_run_is_told_the_nearest(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("export", "team-fist")
    assert answer.status == 2 and f"Did you mean '{RUN}'?" in answer.err


def test_a_folder_that_holds_anything_else_is_left_alone(
    sitegen: Sitegen, runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("{}")
    answer = sitegen("export", RUN, "-o", "out")
    assert answer.status == 2 and "holds other files (run.json)" in answer.err
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["run.json"]


def test_an_earlier_export_is_replaced(sitegen: Sitegen, runs: Path) -> None:
    assert [sitegen("export", RUN, "-o", "out").status for _ in range(2)] == [0, 0]


def taken_over(tmp_path: Path) -> Archive:
    home = tmp_path / ".other"
    archives.update(tmp_path / "other", home, jobs=1)
    return Archive(home)


@pytest.fixture
def folder(sitegen: Sitegen, runs: Path, tmp_path: Path) -> Path:
    """An export below a runs folder of its own."""
    sitegen("export", RUN, "-o", "other/x")
    return tmp_path / "other" / "x"


def test_a_run_toml_beside_it_counts(folder: Path, tmp_path: Path) -> None:
    (folder / "run.toml").write_text('title = "Other"\n')
    run = taken_over(tmp_path).run("x")
    assert (run.title, run.notes, run.steps) == ("Other", "a note", 40)


def test_a_secret_put_into_it_on_its_way_is_taken_out(folder: Path, tmp_path: Path) -> None:
    table = pq.read_table(folder / "lines.parquet")
    column = pa.array([f"key {SECRET}"] * len(table), pa.string())
    pq.write_table(table.set_column(6, "text", column), folder / "lines.parquet")
    archive = taken_over(tmp_path)
    assert all(SECRET not in line.text for line in archive.log_lines("x"))
    assert any(p.path == "x/run.json" and p.kind == "redacted" for p in archive.run("x").problems)


@pytest.mark.parametrize("name", ["steps.parquet", "extras.parquet", "lines.parquet", "run.json"])
def test_damage_is_a_problem_and_no_traceback(folder: Path, tmp_path: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:100] if name == "run.json" else data[: len(data) // 2])
    problems = taken_over(tmp_path).run("x").problems
    assert any(p.kind == "malformed" for p in problems), problems


def test_beside_a_log_of_the_same_run_it_is_one_more_source(folder: Path, runs: Path, tmp_path: Path) -> None:
    shutil.copyfile(runs / "team/first/train.log", folder / "train.log")
    run = taken_over(tmp_path).run("x")
    assert run.formats == ("exported", "console") and run.steps == 40 and len(run.segments) == 2
    assert not [p for p in run.problems if p.kind == "conflict"]
