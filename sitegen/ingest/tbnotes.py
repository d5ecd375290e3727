"""What a TensorBoard file holds beside step records, and what of it could not be read; bounded."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitegen.errors import Problem
from sitegen.ingest.damage import Damage
from sitegen.model import Sample

SHOWN = 5


@dataclass
class Notes:
    """Filled while reading one file."""

    path: str
    config: dict[str, str] = field(default_factory=dict)
    samples: list[tuple[Sample, ...]] = field(default_factory=list)  # of texts, until they are handed out
    any_samples: bool = False  # whether samples were found
    _bad: list[tuple[int, str]] = field(default_factory=list)
    _bad_more: int = 0
    _no_step: tuple[int, int] = (0, 0)  # how many, the first
    _others: dict[str, tuple[int, str, int]] = field(default_factory=dict)  # kind -> count, tag, step

    def take_samples(self) -> tuple[Sample, ...]:
        """Samples found since they were asked for last."""
        found = tuple(each for text in self.samples for each in text)
        self.samples.clear()
        self.any_samples = self.any_samples or bool(found)
        return found

    def malformed(self, offset: int, why: str) -> None:
        """A record whose check sum is right and that is no event."""
        if len(self._bad) < SHOWN:
            self._bad.append((offset, why))
        else:
            self._bad_more += 1

    def no_step(self, step: int) -> None:
        """Numbers at a step that is none."""
        n, first = self._no_step
        self._no_step = (n + 1, first if n else step)

    def other(self, kind: str, tag: str, step: int) -> None:
        """Something that is no number."""
        count, first, at = self._others.get(kind, (0, tag, step))
        self._others[kind] = (count + 1, first, at)

    def problems(self, damage: Damage, numbers: int) -> tuple[Problem, ...]:
        """Everything noted, and what was wrong with the framing."""
        found = [*damage.problems(self.path)]
        for offset, why in self._bad:
            found.append(self._told("malformed", f"the record at byte {offset} is no event: {why}"))
        if self._bad_more:
            found.append(self._told("malformed", f"{self._bad_more} more records are no events"))
        n, first = self._no_step
        if n:
            what = f"{n} events with numbers are at no step from -1 to 2^53 (the first at {first})"
            found.append(self._told("no-step", what))
        for kind, (count, tag, step) in self._others.items():
            where = f", the first at step {step}" + (f" under {tag[:80]}" if tag else "")
            what = f"{kind} was recognised and is not read ({count} in the file{where})"
            found.append(self._told("unsupported", what))
        if not found and not self.config and not numbers and not self.any_samples:
            what = "no value was logged to this file: the run ended before its first step"
            found.append(self._told("empty", what))
        return tuple(found)

    def _told(self, kind: str, what: str, hint: str = "") -> Problem:
        return Problem(self.path, None, kind, what, hint)
