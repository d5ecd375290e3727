"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is not a slow function: nothing here is timed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REPO = Path(__file__).resolve().parent.parent
CORPUS = REPO.parent / "shared" / "corpus"


@pytest.fixture(scope="session")
def repo() -> Path:
    """The checkout the tests run in."""
    return REPO


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Folder of real logs beside the checkout.

    Its absence is a failure in CI, elsewhere a skip. SITEGEN_CORPUS=optional makes it a skip in a
    public CI, which cannot have other people's logs.
    """
    if not CORPUS.is_dir():
        if os.environ.get("CI") == "true" and os.environ.get("SITEGEN_CORPUS") != "optional":
            pytest.fail("the corpus of real logs is missing; in CI it must lie at ../shared/corpus")
        pytest.skip("no corpus of real logs at ../shared/corpus")
    return CORPUS
