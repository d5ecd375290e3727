"""Settings: what a site may ask for, and what it is told when it asks for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import config
from sitegen.errors import ConfigError


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
