"""Shelves of written runs, shared by the tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.written import Written


@pytest.fixture
def shelf(tmp_path: Path) -> Written:
    """An empty throw-away archive."""
    return Written(tmp_path / "archive")
