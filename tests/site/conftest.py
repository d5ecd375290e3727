"""One invented archive and one site built from it, shared by the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import mkdocs_plugin
from tests.site import synthetic

RUNS = 14  # every status, a name of 200 characters and a hostile one


@pytest.fixture(scope="session")
def invented() -> synthetic.Synthetic:
    """Runs of every status that never were on a disk."""
    return synthetic.archive(RUNS, steps=40)


@pytest.fixture(scope="session")
def built(invented: synthetic.Synthetic, tmp_path_factory: pytest.TempPathFactory) -> mkdocs_plugin.Built:
    """The site of `invented`, built cold with the packaged settings.

    The stand-ins are gone when it is built: they would answer for the real ones in every later test.
    """
    place = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        invented.install(patch, place / "home")
        return build(place)


def build(place: Path, name: str = "site") -> mkdocs_plugin.Built:
    """A site in `place`/`name`, with its archive in `place`/home."""
    settings = mkdocs_plugin.config_file(place)
    return mkdocs_plugin.build(settings, runs=place / "runs", home=place / "home", out=place / name)
