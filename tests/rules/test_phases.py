"""Exclusive phases, flicker merged."""

from __future__ import annotations

import pytest

from sitegen.model import Phase, PhaseName
from sitegen.rules.phases import pieces, spans

NAMES = {"w": "warmup", "e": "exploration", "c": "climb", "p": "plateau", "x": "collapse", "?": None}


def drawn(text: str, shortest: int = 4) -> str:
    """Phases of a drawing, drawn again."""
    back = {name: sign for sign, name in NAMES.items()} | {"learning": "l"}
    found = pieces([NAMES[sign] for sign in text], shortest)
    return "".join(back[name] * (last - first + 1) for name, first, last in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("wwwwcccccc", "wwwwcccccc"),
        ("cccccpccccc", "ccccccccccc"),  # flicker
        ("ccccccpcpcppppp", "ccccccccccppppp"),
        ("eecccccc", "cccccccc"),  # short at the start: joins what follows
        ("ccccccxxx", "ccccccxxx"),  # short at the end: a run that just broke
        ("ccccccxx", "cccccccc"),  # two rows are not enough even there
        ("????", "llll"),  # no word is the default
        ("cc", "cc"),
        ("", ""),
    ],
)
def test_flicker_joins_its_neighbour(text: str, found: str) -> None:
    assert drawn(text) == found


def test_segments_have_phases_of_their_own() -> None:
    found = spans(["climb"] * 8, [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8], 3)
    assert found == (Phase(0, PhaseName.CLIMB, 1, 4), Phase(1, PhaseName.CLIMB, 5, 8))


def test_a_word_that_is_no_phase_is_an_error() -> None:
    with pytest.raises(ValueError, match="up"):
        spans(["up"] * 4, [0] * 4, [1, 2, 3, 4], 3)
