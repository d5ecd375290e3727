"""A site with cards, parameters and mutes of its own, from its mkdocs.yml to the finished pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sitegen import mkdocs_plugin
from sitegen.errors import ConfigError
from sitegen.rules import skeleton

SETTINGS = """site_name: Ours
theme: {name: material}
plugins:
  - sitegen:
      runs: runs
      rules: [cards]
      params:
        OWN-01: {times: 5.0}
        GRD-02: {lasting: 1.0e6, spike: 1.0e6}
      muted: [META-01]
"""


def log() -> str:
    """A gradient norm that is four times its level for twenty steps."""
    norms = [0.2 + 0.01 * (step % 3) for step in range(120)]
    norms[70:90] = [4 * norm for norm in norms[70:90]]
    return "".join(
        f"step:{step} - critic/score/mean:{0.3 + 0.001 * step:.3f} - actor/grad_norm:{norm:.3f}\n"
        for step, norm in enumerate(norms, 1)
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with two runs, one of which mutes what the own card finds."""
    place = tmp_path_factory.mktemp("own")
    for folder in ("docs", "cards", "runs/loud", "runs/calm"):
        (place / folder).mkdir(parents=True)
    (place / "mkdocs.yml").write_text(SETTINGS)
    for code, params in (("OWN-01", "2.0"), ("OWN-02", "2.5")):
        name, text = skeleton(code, "Norm above its level", "grad_norm")
        (place / "cards" / name).write_text(text.replace("times = 2.0", f"times = {params}"))
    for run in ("loud", "calm"):
        (place / "runs" / run / "train.log").write_text(log())
    (place / "runs/calm/run.toml").write_text('[mute]\nOWN-02 = "warm restart at step 70"\n')
    return mkdocs_plugin.build(place / "mkdocs.yml").folder


def run(site: Path, name: str) -> dict[str, object]:
    (found,) = json.loads((site / f"api/v1/runs/{name}.json").read_text())["runs"]
    return found  # type: ignore[no-any-return]


def test_cards_of_the_site_judge_its_runs_with_the_parameters_it_sets(site: Path) -> None:
    verdicts = run(site, "loud")["verdicts"]
    assert (verdicts["OWN-02"], verdicts["OWN-01"]) == ("fired", "clear")  # type: ignore[index]


def test_the_page_of_a_rule_shows_what_the_site_set_beside_the_card(site: Path) -> None:
    text = re.sub("<[^>]+>", "", (site / "rules/OWN-01/index.html").read_text())
    assert "times = 5.0 set by this site; the card says 2.0" in text
    assert "No simulated incident exercises this rule" in text
    bundled = re.sub("<[^>]+>", "", (site / "rules/GRD-02/index.html").read_text())
    assert "lasting = 1000000.0 set by this site; the card says 8.0" in bundled


def test_a_rule_that_the_site_switched_off_has_no_page_and_no_verdict(site: Path) -> None:
    assert not (site / "rules/META-01").exists()
    assert "META-01" not in run(site, "loud")["verdicts"]  # type: ignore[operator]


def test_a_muted_finding_is_on_the_page_of_the_run_and_of_the_rule_and_in_no_list_of_incidents(
    site: Path,
) -> None:
    page = (site / "runs/calm/index.html").read_text()
    assert "1 muted finding" in page and "warm restart at step 70" in page
    assert 'href="../../runs/calm/#muted"' in (site / "rules/OWN-02/index.html").read_text()
    listed = json.loads((site / "api/v1/incidents.json").read_text())["incidents"]
    assert [one["run"] for one in listed if one["rule"] == "OWN-02"] == ["loud"]
    assert [one["reason"] for one in run(site, "calm")["muted"]] == ["warm restart at step 70"]  # type: ignore[attr-defined]


def test_only_the_run_whose_mute_changed_is_judged_again(site: Path) -> None:
    place = site.parent
    (place / "runs/calm/run.toml").write_text('[mute]\nOWN-02 = "another reason"\n')
    assert mkdocs_plugin.build(place / "mkdocs.yml").site.rendered == 1
    assert "another reason" in (site / "runs/calm/index.html").read_text()


def test_switching_off_a_rule_that_does_not_exist_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\ntheme: {name: material}\nplugins:\n  - sitegen: {runs: runs, muted: [KL-55]}\n"
    )
    with pytest.raises(ConfigError, match="muted: no rule KL-55; did you mean"):
        mkdocs_plugin.build(tmp_path / "mkdocs.yml")


def test_every_choice_that_no_card_knows_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\ntheme: {name: material}\nplugins:\n  - sitegen:\n      runs: runs\n"
        "      muted:\n        - KL-55\n      params:\n        KL-05: {tims: 2}\n      presets: [seed00]\n"
    )
    with pytest.raises(ConfigError) as raised:
        mkdocs_plugin.build(tmp_path / "mkdocs.yml")
    assert [line.split(": ")[:2] for line in str(raised.value).splitlines()] == [
        ["mkdocs.yml:9", "params"],
        ["mkdocs.yml:10", "presets"],
        ["mkdocs.yml:6", "muted"],
    ]


def test_what_mkdocs_finds_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: x\nedit_uri: 3\nplugins:\n  - sitegen: {jobs: 0}\nnav: 4\n"
    )
    with pytest.raises(ConfigError) as raised:
        mkdocs_plugin.build(tmp_path / "mkdocs.yml")
    lines = str(raised.value).splitlines()
    assert any(line.startswith("mkdocs.yml:5: Config value 'nav'") for line in lines), lines
    assert any(line.startswith("mkdocs.yml:4: jobs: expected a whole number") for line in lines), lines
