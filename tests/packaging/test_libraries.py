"""JavaScript libraries: pinned by hash, fetched once, and nobody needs them to build a site."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sitegen import mkdocs_plugin
from sitegen import site as sites
from sitegen.packaging import libraries
from tests.site import charted

PINNED = ("package.json", "package-lock.json")


@pytest.fixture
def tree(repo: Path, tmp_path: Path) -> Path:
    """A source tree with nothing but what is pinned."""
    folder = tmp_path / "tree" / "sitegen" / "packaging"
    folder.mkdir(parents=True)
    for name in PINNED:
        shutil.copyfile(repo / "sitegen" / "packaging" / name, folder / name)
    return tmp_path / "tree"


def test_every_package_is_pinned_by_its_hash_and_names_no_other_registry(repo: Path) -> None:
    lock = json.loads((repo / "sitegen/packaging/package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert set(packages) == {"node_modules/uplot"}
    for entry in packages.values():
        assert entry["integrity"].startswith("sha512-")
        assert entry.get("resolved", "https://registry.npmjs.org/").startswith("https://registry.npmjs.org/")


@pytest.mark.slow
def test_they_are_fetched_once(tree: Path) -> None:
    assert libraries.fetch(tree) is True
    lib = tree / "templates" / "assets" / "lib"
    assert "uPlot" in (lib / "uplot.js").read_text()
    assert sorted(file.name for file in lib.iterdir()) == ["uplot.LICENSE.txt", "uplot.css", "uplot.js"]
    assert libraries.fetch(tree) is False


def test_a_package_without_a_hash_is_refused(tree: Path) -> None:
    lock = tree / "sitegen" / "packaging" / "package-lock.json"
    loose = json.loads(lock.read_text())
    del loose["packages"]["node_modules/uplot"]["integrity"]
    lock.write_text(json.dumps(loose))
    with pytest.raises(libraries.FetchError, match="integrity hash for node_modules/uplot"):
        libraries.fetch(tree)


def test_another_file_under_the_name_is_refused(tree: Path) -> None:
    lock = tree / "sitegen" / "packaging" / "package-lock.json"
    wrong = json.loads(lock.read_text())
    wrong["packages"]["node_modules/uplot"]["integrity"] = "sha512-" + "A" * 86 + "=="
    lock.write_text(json.dumps(wrong))
    with pytest.raises(libraries.FetchError, match="EINTEGRITY"):
        libraries.fetch(tree)


def test_without_a_registry_it_says_so(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tree / "cache"))
    with pytest.raises(libraries.FetchError, match="npm ci failed"):
        libraries.fetch(tree)


def test_a_site_without_them_is_built_with_drawings_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "has_charts", lambda: False)
    charted.write(tmp_path / "runs")
    said: list[str] = []
    built = mkdocs_plugin.build(
        mkdocs_plugin.config_file(tmp_path),
        runs=tmp_path / "runs",
        home=tmp_path / "home",
        out=tmp_path / "site",
        progress=said.append,
    )
    assert len([line for line in said if "charts stay drawings" in line]) == 1
    page = (built.folder / "runs/short/index.html").read_text()
    assert "live.js" not in page
    assert 'class="sg-svg"' in page
