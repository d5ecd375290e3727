"""What was wrong with the framing of a binary log, and the problems that say so."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitegen.errors import Problem

MAX_RECORD = 16 << 20  # bytes; a longer record is a picture or a recording and would cost memory only
SHOWN = 5
_COPY = "Copy the file again if you can; what is left of it was read."


@dataclass(slots=True)
class Damage:
    """Filled while reading: the first of each kind, a count of the rest. Offsets are in unpacked bytes."""

    holes: list[tuple[int, int]] = field(default_factory=list)  # from, to: no record could be found between
    torn: int | None = None  # offset of a last record that has no end
    _more_holes: int = 0
    _wrong: list[int] = field(default_factory=list)
    _wrongs: int = 0
    _long: list[tuple[int, int]] = field(default_factory=list)
    _longs: int = 0

    def hole(self, start: int, end: int) -> None:
        """Note that nothing could be found between two offsets; holes that touch are one."""
        if self.holes and self.holes[-1][1] >= start:
            first, last = self.holes.pop()
            start, end = min(first, start), max(last, end)
        elif len(self.holes) > SHOWN:
            self.holes.pop()
            self._more_holes += 1
        self.holes.append((start, end))

    def wrong(self, offsets: list[int]) -> None:
        """Note records whose data does not match its check sum."""
        self._wrongs += len(offsets)
        self._wrong += offsets[: SHOWN - len(self._wrong)]

    def long(self, offset: int, size: int) -> None:
        """Note a record that was passed over."""
        self._longs += 1
        self._long += [(offset, size)][: SHOWN - len(self._long)]

    def problems(self, path: str) -> list[Problem]:
        """One problem per kind of damage and place, bounded."""
        found = []
        for start, end in self.holes[:SHOWN]:
            what = (
                f"damaged from byte {start} to byte {end}: no record could be found there; the rest was read"
            )
            found.append(Problem(path, None, "damaged", what, _COPY))
        if (more := len(self.holes) - SHOWN + self._more_holes) > 0:
            found.append(Problem(path, None, "damaged", f"{more} more places are damaged", _COPY))
        if self._wrongs:
            where = ", ".join(map(str, self._wrong)) + (", …" if self._wrongs > SHOWN else "")
            what = f"the check sum of {self._wrongs} records is wrong, at byte {where}; they were left out"
            found.append(Problem(path, None, "damaged", what, _COPY))
        for offset, size in self._long:
            what = f"the record at byte {offset} is {size >> 20} MB long and was passed over"
            found.append(Problem(path, None, "too-long", what))
        if (more := self._longs - SHOWN) > 0:
            found.append(Problem(path, None, "too-long", f"{more} more records were passed over"))
        if self.torn is not None:
            what = f"the file ends within the record at byte {self.torn}; what precedes was read"
            hint = "Copy the file again if the run goes on; else nothing can be done."
            found.append(Problem(path, None, "truncated", what, hint))
        return found
