"""A build is put in place file by file; what is not ours is never touched."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from sitegen.errors import ConfigError
from sitegen.site import Manifest, publish, write
from sitegen.site.publish import NAME, Derived


def staged(place: Path, **files: str) -> Path:
    """A staging folder; `a__b` is the file a/b."""
    staging = place / ".site.new"
    write({name.replace("__", "/"): text.encode() for name, text in files.items()}, staging)
    return staging


def test_the_site_holds_the_build_and_its_list(tmp_path: Path) -> None:
    publish(staged(tmp_path, index="home", runs__a="run"), tmp_path / "site")
    assert (tmp_path / "site/runs/a").read_text() == "run"
    assert Manifest.read(tmp_path / "site").files == ("index", "runs/a")


def test_what_the_last_build_wrote_and_this_one_did_not_goes(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(staged(tmp_path, index="1", runs__gone__page="x"), site)
    publish(staged(tmp_path, index="2"), site)
    assert (site / "index").read_text() == "2"
    assert not (site / "runs").exists()


def test_what_is_known_by_its_digest_is_not_made_again(tmp_path: Path) -> None:
    def make() -> bytes:
        raise AssertionError("made, though it is there")

    write({"big.csv": b"1,2\n"}, tmp_path)
    write({"big.csv": Derived(hashlib.sha256(b"1,2\n").hexdigest(), make)}, tmp_path)


@pytest.mark.parametrize("there", [b"1,3\n", None], ids=["changed", "gone"])
def test_what_is_not_as_its_digest_says_is_made(tmp_path: Path, there: bytes | None) -> None:
    write({} if there is None else {"big.csv": there}, tmp_path)
    write({"big.csv": Derived(hashlib.sha256(b"1,2\n").hexdigest(), lambda: b"1,2\n")}, tmp_path)
    assert (tmp_path / "big.csv").read_bytes() == b"1,2\n"


def test_a_file_of_somebody_else_stays(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(staged(tmp_path, index="1", runs__a="x"), site)
    (site / "runs/CNAME").write_text("mine")
    publish(staged(tmp_path, index="2"), site)
    assert (site / "runs/CNAME").read_text() == "mine"


def test_a_folder_named_by_mistake_loses_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write({"index": b"my thesis", "photo": b"x"}, home)
    with pytest.raises(ConfigError, match="holds 'index', which no build of sitegen wrote"):
        publish(staged(tmp_path, index="site"), home)
    assert (home / "index").read_text() == "my thesis"
    assert (home / "photo").exists()


def test_after_a_build_that_was_killed_half_way_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    moved = Path.replace

    def killed(source: Path, target: Path) -> Path:
        if target.name == "b":
            raise KeyboardInterrupt
        return moved(source, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(staged(tmp_path, a="1", b="1"), site)
    monkeypatch.undo()
    publish(staged(tmp_path, a="2", b="2"), site)
    assert ((site / "a").read_text(), (site / "b").read_text()) == ("2", "2")


def test_a_file_where_the_site_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("")
    with pytest.raises(ConfigError, match="expected a folder for the site, found a file"):
        publish(staged(tmp_path, index="1"), tmp_path / "site")


def test_a_file_that_became_a_folder_changes_place(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(staged(tmp_path, runs="a file"), site)
    publish(staged(tmp_path, runs__a="a folder"), site)
    assert (site / "runs/a").read_text() == "a folder"


@pytest.mark.parametrize("listed", ["../precious", "/etc/precious", ""])
def test_a_forged_list_reaches_nothing_outside(tmp_path: Path, listed: str) -> None:
    (tmp_path / "precious").write_text("keep")
    site = tmp_path / "site"
    site.mkdir()
    (site / NAME).write_text(json.dumps({"files": [listed]}))
    publish(staged(tmp_path, index="1"), site)
    assert (tmp_path / "precious").read_text() == "keep"


@pytest.mark.parametrize("damage", ["", "[]", '{"files": 3}', "{"])
def test_a_damaged_list_counts_as_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / NAME).write_text(damage)
    assert Manifest.read(tmp_path).files == ()
