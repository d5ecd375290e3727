"""samples.parquet: the generations that a run dumped, all of them, in bounded memory, secrets taken out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from sitegen.archive.copies import KNOWN, Copies
from sitegen.archive.textrows import TextRows, cleaned
from sitegen.errors import Problem
from sitegen.ingest import sample_tables
from sitegen.ingest.generations import NAME as FORMAT
from sitegen.ingest.generations import compact
from sitegen.model import Dumped, Sample, SourceFile
from sitegen.redact import redact

NAME = "samples.parquet"
PROMPTS = 2048  # prompts remembered: the answers to one follow each other, and each validation asks the same
SHORT = 20_000  # characters of a prompt that is remembered

SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("step", pa.int64()),
        ("index", pa.int64()),  # place among the samples of this kind and step, from 0
        ("input", pa.string()),
        ("output", pa.string()),
        ("expected", pa.string()),
        ("score", pa.float64()),
        ("extra", pa.string()),  # JSON object
        ("prompt", pa.int64()),  # equal for equal inputs
        ("length", pa.int64()),  # characters of the output
        ("source", pa.string()),
        ("line", pa.int64()),
    ]
)


@dataclass
class _Count:
    rows: int = 0
    scored: int = 0
    steps: dict[int | None, int] = field(default_factory=dict)  # step -> rows

    def dumped(self, kind: str) -> Dumped:
        known = [step for step in self.steps if step is not None]
        return Dumped(
            kind, self.rows, self.scored, len(known), min(known, default=None), max(known, default=None)
        )


class SampleFile(TextRows):
    """Writer of samples.parquet."""

    def __init__(self, folder: Path, *, twice: bool = False) -> None:
        """`twice`: several sources may hold the same samples."""
        repeated, sought = ("kind", "input", "expected", "source"), ("kind", "step", "score")
        super().__init__(folder / NAME, SCHEMA, repeated, sought)
        self._copies = Copies(twice)
        self._counts: dict[str, _Count] = {}
        self._prompts: dict[str, tuple[str, Counter[str]]] = {}

    def add(self, source: str, samples: Iterable[Sample], *, copies: bool = False) -> Counter[str]:
        """Append samples of a source; returns how many secrets of which kind were taken out.

        Of a source that may hold `copies` only what no source before it holds.
        """
        secrets: Counter[str] = Counter()
        for each in samples:
            if not copies:
                self._copies.note(each)
            elif not self._copies.is_new(source, each):
                continue
            self.append(self._row(source, each, secrets))
        return secrets

    def problems(self, path: str) -> tuple[Problem, ...]:
        """What could not be told about the samples of the run at `path`."""
        if not self._copies.full:
            return ()
        what = (
            f"there are more than {KNOWN} validation samples: some that a tracker's table repeats count twice"
        )
        return (Problem(path, None, "too-many", what, "Leave the tables out: the dumps hold all of them."),)

    def counts(self) -> tuple[Dumped, ...]:
        """What was written, by kind."""
        return tuple(self._counts[kind].dumped(kind) for kind in sorted(self._counts))

    def _row(self, source: str, each: Sample, secrets: Counter[str]) -> dict[str, object]:
        prompt = self._prompt(each.input, secrets)
        output, found = redact(each.output)
        secrets += found
        return {
            "kind": each.kind,
            "step": each.step,
            "index": self._place(each),
            "input": prompt,
            "output": output,
            "expected": None if each.expected is None else _clean(each.expected, secrets),
            "score": each.score,
            "extra": compact(cleaned(each.extra, secrets)),
            "prompt": _digest(prompt),
            "length": len(output),
            "source": source,
            "line": each.line,
        }

    def _place(self, each: Sample) -> int:
        count = self._counts.setdefault(each.kind, _Count())
        count.rows += 1
        count.scored += each.score is not None
        index = count.steps.get(each.step, 0)
        count.steps[each.step] = index + 1
        return index

    def _prompt(self, text: str, secrets: Counter[str]) -> str:
        known = self._prompts.get(text)
        if known is None:
            known = redact(text)
            if len(text) <= SHORT:
                if len(self._prompts) >= PROMPTS:
                    del self._prompts[next(iter(self._prompts))]
                self._prompts[text] = known
        secrets += known[1]
        return known[0]


def folded(files: Iterable[SourceFile]) -> tuple[SourceFile, ...]:
    """Sources of a run, the dumps of one folder as one: there may be two files for every step."""
    folders: dict[str, list[SourceFile]] = {}
    for each in files:
        dump = each.format in (FORMAT, sample_tables.NAME)
        folders.setdefault(f"{each.path.rpartition('/')[0]}/" if dump else each.path, []).append(each)
    return tuple(one[0] if len(one) == 1 else _joined(path, one) for path, one in folders.items())


def _joined(path: str, files: list[SourceFile]) -> SourceFile:
    shas = "\n".join(f"{each.path}\0{each.sha256}" for each in files)
    steps = [step for each in files for step in (each.first_step, each.last_step) if step is not None]
    return SourceFile(
        f"{path} ({len(files)} files)",
        files[0].format,
        sum(each.bytes for each in files),
        hashlib.sha256(shas.encode("utf-8", "surrogatepass")).hexdigest(),
        sum(each.records for each in files),
        min(steps, default=None),
        max(steps, default=None),
    )


def _clean(text: str, secrets: Counter[str]) -> str:
    short, found = redact(text)
    secrets += found
    return short


def _digest(text: str) -> int:
    """A signed 64-bit number that equal texts share."""
    data = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(data, "big", signed=True)
