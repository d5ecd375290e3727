"""TFRecord framing: length, its check sum, data, its check sum.

Both check sums of every record are verified, the data's up to 64 KB: a flipped bit would otherwise be a
wrong number that nobody notices. Behind a damaged place reading goes on at the next header whose check sum
is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sitegen.ingest import crc32c
from sitegen.ingest.damage import MAX_RECORD, Damage
from sitegen.ingest.source import BLOCK
from sitegen.model import Ints

_LENGTH = Struct("<Q").unpack_from
HEADER, FOOTER = 12, 4
_WINDOW, _WIDEST = 1 << 8, 1 << 16  # places looked at together for the next header


@dataclass(frozen=True, slots=True)
class Frames:
    """Whole records of one stretch: record i is `data[starts[i]:ends[i]]`."""

    data: bytes
    offset: int  # of `data` in the file
    starts: Ints
    ends: Ints


def frames(stream: BinaryIO, damage: Damage) -> Iterator[Frames]:
    """Records of a stream in stretches of about 4 MB; notes in `damage` what is not handed out."""
    return _Walk(stream, damage).stretches()


class _Walk:
    """A stream, the stretch of it that is in memory, and the place reached in that."""

    def __init__(self, stream: BinaryIO, damage: Damage) -> None:
        self._stream = stream
        self._damage = damage
        self._data = b""
        self._offset = 0  # of `_data` in the file
        self._at = 0
        self._ended = False

    def stretches(self) -> Iterator[Frames]:
        while not self._ended or self._at < len(self._data):
            found = self._whole()
            if len(found.starts):
                yield self._sound(found)
            self._go_on()

    def _more(self) -> None:
        chunk = self._stream.read(BLOCK)
        self._data = self._data[self._at :] + chunk
        self._offset += self._at
        self._at = 0
        self._ended = not chunk

    def _whole(self) -> Frames:
        """Records from here to the last one that is all there and has a good header."""
        heads: list[int] = []
        ends: list[int] = []
        data, at, n = self._data, self._at, len(self._data)
        while at + HEADER <= n:
            end = at + HEADER + _LENGTH(data, at)[0] + FOOTER
            if end > n:
                break
            heads.append(at)
            ends.append(end)
            at = end
        return self._good(np.array(heads, dtype=np.int64), np.array(ends, dtype=np.int64))

    def _good(self, places: Ints, ends: Ints) -> Frames:
        """Those with a good header. A bad length leads nowhere: a good one vouches for those before."""
        good = _headers(self._data, places)
        last = int(np.flatnonzero(good)[-1]) + 1 if good.any() else 0
        for i in np.flatnonzero(~good[:last]):
            self._hole(int(places[i]), int(ends[i]))
        kept = np.flatnonzero(good[:last])
        self._at = int(ends[last - 1]) if last else self._at
        return Frames(self._data, self._offset, places[kept] + HEADER, ends[kept] - FOOTER)

    def _sound(self, found: Frames) -> Frames:
        """The records whose data matches its check sum."""
        lengths = found.ends - found.starts
        short = np.flatnonzero(lengths <= crc32c.LONGEST)
        sums = crc32c.masked(found.data, found.starts[short], lengths[short])
        wrong = short[sums != crc32c.stored(found.data, found.ends[short])]
        self._damage.wrong((found.starts[wrong] - HEADER + self._offset).tolist())
        kept = np.ones(len(lengths), dtype=np.bool_)
        kept[wrong] = False
        return Frames(found.data, self._offset, found.starts[kept], found.ends[kept])

    def _go_on(self) -> None:
        """Get past what stands where no whole record is: more is to be read, or something is wrong."""
        left = len(self._data) - self._at
        if left < HEADER:
            if self._ended and left:
                self._tear()
            elif not self._ended:
                self._more()
        elif not _headers(self._data, np.array([self._at]))[0]:
            self._resume()
        elif (length := _LENGTH(self._data, self._at)[0]) <= MAX_RECORD and not self._ended:
            self._more()
        elif self._ended:
            self._tear()
        else:
            self._pass(length)

    def _tear(self) -> None:
        """The rest is the beginning of a record, or the end of what is damaged."""
        holes, place = self._damage.holes, self._offset + self._at
        if holes and holes[-1][1] == place:
            self._hole(self._at, len(self._data))
        else:
            self._damage.torn = place
        self._at = len(self._data)

    def _hole(self, start: int, end: int) -> None:
        self._damage.hole(start + self._offset, end + self._offset)

    def _resume(self) -> None:
        """Go to the next place that begins with a length and its check sum, or to the end."""
        start, window = self._at, _WINDOW
        while (at := self._at + 1) <= (last := len(self._data) - HEADER):
            places = np.arange(at, min(at + window, last + 1), dtype=np.int64)
            good = np.flatnonzero(_headers(self._data, places))
            self._at = int(places[good[0]] if len(good) else places[-1])
            if len(good):
                break
            window = min(2 * window, _WIDEST)
        else:
            self._at = len(self._data) if self._ended else self._at + 1
        self._hole(start, self._at)

    def _pass(self, length: int) -> None:
        """Read past a record that is too long to be kept."""
        place = self._offset + self._at
        self._at += HEADER + length + FOOTER
        left = self._at - len(self._data)
        while left > 0 and (chunk := self._stream.read(min(left, BLOCK))):
            left -= len(chunk)
        self._offset += self._at - left
        self._data, self._at = b"", 0
        if left > 0:
            self._damage.torn, self._ended = place, True
        else:
            self._damage.long(place, length)


def _headers(data: bytes, places: Ints) -> NDArray[np.bool_]:
    """Which places begin with a length and its check sum."""
    lengths = np.full(len(places), 8, dtype=np.int64)
    good: NDArray[np.bool_] = crc32c.masked(data, places, lengths) == crc32c.stored(data, places + 8)
    return good
