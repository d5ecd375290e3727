"""The comment for a pull request: verdict, numbers beside the baseline, findings, links into the site."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from sitegen.cli import comment
from sitegen.cli.comment import Baseline
from sitegen.cli.whereabouts import Checked
from sitegen.reports import assemble
from tests.cli.conftest import Sitegen, console, healthy, sick
from tests.reports import made


def text(sitegen: Sitegen, *arguments: object) -> str:
    return sitegen("check", *arguments, "-f", "markdown", "--fail-on", "never").out


def rows(text: str, begin: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines()
            if line.startswith(f"| {begin}")]  # fmt: skip


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """`runs/team` with a baseline and a run that names it, as the folder of a site."""
    for name, log, toml in (
        ("base", healthy(60), ""),
        ("new", console([0.1] * 60), 'baseline = "team-base"\n'),
        ("lost", healthy(30), 'baseline = "nobody"\n'),
    ):
        folder = tmp_path / "runs" / "team" / name
        folder.mkdir(parents=True)
        config = (
            f"{{'data': {{'train_batch_size': {len(name)}}}, 'trainer': {{'experiment_name': '{name}'}}}}\n"
        )
        (folder / "train.log").write_text(config + log)
        (folder / "run.toml").write_text(toml)
    return tmp_path


def test_it_opens_with_how_many_runs_ended_how(sitegen: Sitegen, runs: Path) -> None:
    assert text(sitegen, runs).startswith("## 2 runs checked: 1 crashed, 1 healthy\n\n| run | status |")


def test_numbers_stand_beside_those_of_the_baseline_that_run_toml_names(sitegen: Sitegen, site: Path) -> None:
    said = text(sitegen, site / "runs")
    assert "### team-new against its baseline" in said
    [score] = rows(said[said.index("### team-new") :], "last Score")
    assert score == ["last Score", "0.1", "0.8", "−0.7 (−88 %)"]
    [setting] = rows(said, "`data.train_batch_size`")
    assert setting == ["`data.train_batch_size`", "`3`", "`4`"]
    assert "experiment_name" not in said[said.index("### team-new") :].split("</details>")[0]


def test_one_run_alone_finds_its_baseline_in_the_archive_of_the_site(sitegen: Sitegen, site: Path) -> None:
    said = text(sitegen, "runs/team/new")
    assert "| team-base | change |" in said


def test_a_baseline_that_is_not_there_is_said(sitegen: Sitegen, site: Path) -> None:
    said = text(sitegen, site / "runs/team/lost")
    assert "There is no run `nobody` to compare with" in said


@pytest.mark.parametrize("name", ["team-base", "runs/team/base", "runs/team/base/train.log"])
def test_another_baseline_can_be_named_by_id_or_path(sitegen: Sitegen, site: Path, name: str) -> None:
    said = text(sitegen, "runs/team/lost", "--baseline", name)
    assert "| change |" in said and "nobody" not in said


def test_a_named_baseline_that_is_nowhere_is_an_error(sitegen: Sitegen, site: Path) -> None:
    answer = sitegen("check", "runs/team/new", "-f", "markdown", "--baseline", "team-bsae")
    assert answer.status == 2 and "there is no run 'team-bsae' to compare with" in answer.err


def test_links_lead_to_where_the_run_is_on_the_site(sitegen: Sitegen, site: Path) -> None:
    (site / "runs/team/new/train.log").write_text(sick(60))
    for path in ("runs", "runs/team", "runs/team/new"):
        said = text(sitegen, path, "--site-url", "https://team.example/x/")
        assert "](https://team.example/x/runs/team-new/)" in said
        assert "[RUN-01](https://team.example/x/runs/team-new/#RUN-01-1)" in said


def test_the_address_of_the_site_is_that_of_mkdocs_yml(sitegen: Sitegen, site: Path) -> None:
    Path("mkdocs.yml").write_text("site_name: t\nsite_url: https://own.example/\nplugins: [sitegen]\n")
    assert "](https://own.example/runs/team-new/)" in text(sitegen, "runs/team/new")
    assert "](" not in text(sitegen, "runs/team/new", "--site-url", "").split("###")[0]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x/) [y](https://z", "ftp://x"])
def test_what_is_no_address_of_a_site_is_refused(sitegen: Sitegen, runs: Path, url: str) -> None:
    assert sitegen("check", runs, "-f", "markdown", "--site-url", url).status == 2


def test_an_explained_finding_says_so(sitegen: Sitegen, site: Path) -> None:
    (site / "runs/team/new/train.log").write_text(sick(60))
    (site / "runs/team/new/incidents").mkdir()
    (site / "runs/team/new/incidents/RUN-01-1.md").write_text("Too long.")
    [row] = [one for one in rows(text(sitegen, "runs/team/new"), "critical") if one[1] == "RUN-01"]
    assert row[4].endswith("(explained)")


def hostile(n: int = 1) -> Checked:
    """A run whose incidents say what markup would say."""
    many = tuple(
        made.incident(id=f"demo/GRD-01-{at}", message="norm | <b> 5 @team ![x](https://t.example/p.png)" * 3)
        for at in range(1, n + 1)
    )
    report = assemble.report(made.run(), made.findings(*many), {}, (), (made.rule(),))
    return Checked(report, Path("demo"), Path("runs"))


def test_nothing_in_it_is_markup() -> None:
    said = comment.document([hostile()], {"demo": Baseline("<b>|`x", None)}).decode()
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(said)
    assert "<b>" not in html and "<img" not in html and "@team" not in said
    assert "lower `actor_rollout_ref.actor.optim.lr`" in said


def test_it_fits_into_a_comment_however_much_there_is_to_say() -> None:
    many = [hostile(60)] * 300
    said = comment.document(many, {}).decode()
    assert len(said) < 65_536
    assert said.endswith("`sitegen check` says all of it.\n")
    assert said.count("<details>") == said.count("</details>")
    few = comment.document([hostile(60)], {}).decode()
    assert "20 more findings" in few


def test_the_same_runs_give_the_same_words(sitegen: Sitegen, site: Path) -> None:
    assert text(sitegen, "runs") == text(sitegen, "runs")
