"""Phase of each row -> exclusive spans per segment."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.model import Phase, PhaseName

#: The last stretch is kept from this many rows on: a run that just broke is not flicker.
LAST = 3

Piece = tuple[str, int, int]  # phase, first and last position, inclusive


def pieces(phases: Sequence[str | None], shortest: int) -> tuple[Piece, ...]:
    """Stretches of equal phase; one shorter than `shortest` rows joins its neighbour before, else after."""
    found = _runs([phase or PhaseName.LEARNING.value for phase in phases])
    while len(found) > 1:
        lengths = [_length(piece, place, found, shortest) for place, piece in enumerate(found)]
        place = min(range(len(found)), key=lambda one: (lengths[one], one))
        if lengths[place] >= shortest:
            break
        found = _join(found, place)
    return tuple(found)


def spans(
    phases: Sequence[str | None], segments: Sequence[int], steps: Sequence[int], shortest: int
) -> tuple[Phase, ...]:
    """Phases of one run, rows in order. Raises KeyError-free ValueError for a word that is no phase."""
    found = []
    for _, first, last in _runs([str(segment) for segment in segments]):
        part = phases[first : last + 1]
        for phase, start, end in pieces(part, shortest):
            found.append(Phase(segments[first], PhaseName(phase), steps[first + start], steps[first + end]))
    return tuple(found)


def _length(piece: Piece, place: int, found: Sequence[Piece], shortest: int) -> int:
    rows = piece[2] - piece[1] + 1
    last = place == len(found) - 1 and rows >= LAST
    return max(rows, shortest) if last else rows


def _runs(words: Sequence[str]) -> list[Piece]:
    found: list[Piece] = []
    for place, word in enumerate(words):
        if found and found[-1][0] == word:
            found[-1] = (word, found[-1][1], place)
        else:
            found.append((word, place, place))
    return found


def _join(found: list[Piece], place: int) -> list[Piece]:
    """`found` with the piece at `place` given to its neighbour, equal neighbours made one."""
    name = found[place - 1][0] if place else found[1][0]
    renamed = [*found[:place], (name, found[place][1], found[place][2]), *found[place + 1 :]]
    joined: list[Piece] = []
    for piece in renamed:
        if joined and joined[-1][0] == piece[0]:
            joined[-1] = (piece[0], joined[-1][1], piece[2])
        else:
            joined.append(piece)
    return joined
