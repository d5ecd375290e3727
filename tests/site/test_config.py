"""Settings: what a site may ask for, and what it is told when it asks for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import config, mkdocs_plugin
from sitegen.errors import ConfigError
from sitegen.places import line_of, where


def test_nothing_asked_is_a_site_of_the_folder_runs() -> None:
    assert config.read({}, Path("/x")) == config.Config()


def test_folders_start_where_the_file_lies(tmp_path: Path) -> None:
    read = config.read({"runs": "logs"}, tmp_path)
    assert read.runs == tmp_path / "logs"
    assert read.archive_home == tmp_path / ".sitegen"


def test_home_can_lie_elsewhere(tmp_path: Path) -> None:
    assert config.read({"home": "cache"}, tmp_path).archive_home == tmp_path / "cache"


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'parms'\. Did you mean 'params'\?"):
        config.read({"parms": {}}, Path())


def test_a_key_like_no_other_lists_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'zzz'\. Known are: runs, home"):
        config.read({"zzz": 1}, Path())


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config.read({"jobs": 0, "muted": ["kl"], "rules": "nowhere"}, tmp_path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[3] for line in lines] == ["jobs", "muted", "rules"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"params": ["ENT-01"]}, "expected rule codes with parameters"),
        ({"params": {"ENT-01": 3}}, "expected `parameter: value` pairs"),
        ({"params": {"ENT-01": {"floor": [1]}}}, "floor: expected a number"),
        ({"title": ""}, "expected a text"),
        ({"jobs": True}, "whole number"),
    ],
)
def test_a_wrong_value_says_what_was_expected(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        config.read(settings, Path())


def test_a_command_line_wins_over_the_file(tmp_path: Path) -> None:
    read = config.read({"runs": "logs", "jobs": 3}, tmp_path).with_paths(runs=tmp_path / "other")
    assert (read.runs, read.jobs) == (tmp_path / "other", 3)


def test_a_site_asks_for_presets_by_name() -> None:
    assert config.read({"presets": "seed000"}, Path()).presets == ("seed000",)
    assert config.read({"presets": ["seed000", "seed004"]}, Path()).presets == ("seed000", "seed004")
    with pytest.raises(ConfigError, match="names of presets such as seed000"):
        config.read({"presets": [4]}, Path())


def test_numbers_that_yaml_takes_for_texts_are_numbers(tmp_path: Path) -> None:
    found = config.read(
        {"params": {"KL-05": {"a": "1e-6", "b": "1.5E+3", "c": "e5", "d": "seed000"}}}, tmp_path
    )
    assert found.params["KL-05"] == {"a": 1e-6, "b": 1500.0, "c": "e5", "d": "seed000"}


def test_phases_have_parameters_too(tmp_path: Path) -> None:
    assert config.read({"params": {"PHASE-01": {"sds": 3.0}}}, tmp_path).params["PHASE-01"] == {"sds": 3.0}


def test_a_site_says_what_else_is_taken_out(tmp_path: Path) -> None:
    asked = {"patterns": {"ticket": r"ACME-\d+"}, "keep_emails_of": ["Lists.example.org"]}
    assert config.read({"redact": asked}, tmp_path).redact == config.Redaction(
        (("ticket", r"ACME-\d+"),), ("lists.example.org",)
    )
    one = config.read({"redact": {"keep_emails_of": "example.org"}}, tmp_path)
    assert one.redact.keep_emails_of == ("example.org",)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (True, "redact: expected patterns and keep_emails_of below it, found True"),
        ({"pattern": {}}, "redact: unknown key 'pattern'. Did you mean 'patterns'?"),
        ({"patterns": ["x"]}, "redact: patterns: expected `name: regular expression` pairs"),
        ({"patterns": {"a b": "x"}}, "redact: patterns: a b: expected a name of small letters"),
        ({"patterns": {"x": 3}}, "redact: patterns: x: expected a regular expression in quotes, found 3"),
        (
            {"patterns": {"x": "(a"}},
            "redact: patterns: x: '(a' is no regular expression of Python: missing )",
        ),
        ({"patterns": {"x": "a*"}}, "redact: patterns: x: 'a*' matches nothing at all"),
        ({"keep_emails_of": ["@lab"]}, "redact: keep_emails_of: expected domains such as example.org"),
    ],
)
def test_what_cannot_be_a_redaction_says_what_was_expected(asked: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.read({"redact": asked}, Path())
    assert says in str(caught.value)


def test_every_faulty_pattern_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        config.read({"redact": {"patterns": {"a": "(", "b": ")"}}}, Path())
    assert [line.split(": ")[5] for line in str(caught.value).splitlines()] == ["a", "b"]


MKDOCS = """\
site_name: x
plugins:
  - search
  - sitegen:
      runs: logs
      redact:
        patterns:
          ticket: ACME-1
          host: "(a"
      jobs: 0
      zzz: 1
"""


def test_the_line_of_a_setting_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(MKDOCS)
    assert line_of(file, ("plugins", "sitegen", "redact", "patterns", "host")) == 9
    assert line_of(file, ("plugins", "sitegen", "redact", "patterns", "none")) == 7
    assert line_of(file, ("plugins", "sitegen")) == 4
    assert line_of(file, ("plugins", "other"), least=2) is None
    assert line_of(tmp_path / "none.yml", ("plugins", "sitegen")) is None
    assert (where(file, ("jobs",)), where(tmp_path / "none.yml", ())) == ("mkdocs.yml:10", "none.yml")


def test_a_faulty_file_is_told_with_every_line(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(MKDOCS)
    with pytest.raises(ConfigError) as caught:
        mkdocs_plugin.read_settings(file)
    told = str(caught.value)
    assert "mkdocs.yml:9: redact: patterns: host: '(a' is no regular expression" in told
    assert "mkdocs.yml:10: jobs: expected a whole number" in told
    assert "mkdocs.yml:11: unknown key 'zzz'" in told


FAULTY = """\
site_name: x
plugins:
  - sitegen:
      rules: [cards]
      jobs: 0
      rulez: []
      muted: [kl, KL-99]
      presets: [seed999]
      params:
        KL-05: {timez: 3, times: [1]}
        XX-01: {a: 1}
"""


def told(file: Path) -> list[str]:
    """What stands behind `mkdocs.yml:`, sorted."""
    (file.parent / "docs").mkdir()
    with pytest.raises(ConfigError) as caught:
        mkdocs_plugin.read_settings(file)
    return sorted(line.removeprefix("mkdocs.yml:") for line in str(caught.value).splitlines())


def test_faults_of_choices_are_told_with_all_others(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(FAULTY)
    (tmp_path / "cards").mkdir()
    found = told(file)
    assert [line.partition(": ")[0] for line in found] == ["10", "10", "11", "5", "6", "7", "7", "8"]
    assert any("timez: no param timez" in line for line in found)
    assert any("no rule XX-01" in line for line in found)
    assert any("no rule KL-99" in line for line in found)
    assert any("no card knows 'seed999'" in line for line in found)


def test_faults_of_choices_are_told_with_those_that_mkdocs_finds(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text("site_name: [x]\nplugins:\n  - sitegen:\n      presets: [seed999]\n")
    assert [line.partition(": ")[0] for line in told(file)] == ["1", "4"]


def test_where_a_folder_of_cards_is_missing_its_cards_are_not_called_unknown(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text(FAULTY.replace("jobs: 0", "runs: r").replace("      rulez: []\n", ""))
    found = told(file)
    assert any("no folder at 'cards'" in line for line in found)
    assert any("no param timez" in line for line in found)
    assert not any("XX-01" in line or "seed999" in line for line in found)


def test_faults_of_cards_are_told_with_those_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "mkdocs.yml"
    file.write_text("site_name: x\nplugins:\n  - sitegen:\n      rules: [cards]\n      jobs: 0\n")
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "OWN-01-x.md").write_text("# X\n")
    found = told(file)
    assert any("jobs: expected" in line for line in found) and any("OWN-01-x.md" in line for line in found)
