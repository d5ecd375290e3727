"""What was wrong with the framing of a binary log, and the problems that say so."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitegen.errors import Problem

SHOWN = 5
_COPY = "Copy the file again if you can; what is left of it was read."


@dataclass(slots=True)
class Damage:
    """Offsets are bytes of the unpacked file. Filled while reading."""

    wrong: list[int] = field(default_factory=list)  # records whose data does not match its check sum
    holes: list[tuple[int, int]] = field(default_factory=list)  # from, to: no record could be found between
    long: list[tuple[int, int]] = field(default_factory=list)  # offset and length of records passed over
    torn: int | None = None  # offset of a last record that has no end

    def hole(self, start: int, end: int) -> None:
        """Note that nothing could be found between two offsets; holes that touch are one."""
        if self.holes and self.holes[-1][1] >= start:
            first, last = self.holes.pop()
            start, end = min(first, start), max(last, end)
        self.holes.append((start, end))

    def problems(self, path: str) -> list[Problem]:
        """One problem per kind of damage and place, bounded."""
        found = []
        for start, end in self.holes[:SHOWN]:
            what = (
                f"damaged from byte {start} to byte {end}: no record could be found there; the rest was read"
            )
            found.append(Problem(path, None, "damaged", what, _COPY))
        if (more := len(self.holes) - SHOWN) > 0:
            found.append(Problem(path, None, "damaged", f"{more} more places are damaged", _COPY))
        if self.wrong:
            where = ", ".join(map(str, self.wrong[:SHOWN])) + (", …" if len(self.wrong) > SHOWN else "")
            what = f"the check sum of {len(self.wrong)} records is wrong, at byte {where}; they were left out"
            found.append(Problem(path, None, "damaged", what, _COPY))
        for offset, size in self.long[:SHOWN]:
            what = f"the record at byte {offset} is {size >> 20} MB long and was passed over"
            found.append(Problem(path, None, "too-long", what))
        if self.torn is not None:
            what = f"the file ends within the record at byte {self.torn}; what precedes was read"
            hint = "Copy the file again if the run goes on; else nothing can be done."
            found.append(Problem(path, None, "truncated", what, hint))
        return found
