"""verl's dumps of generations: `rollout_data_dir` and `validation_data_dir`, one `<step>.jsonl` per step.

A line is one answer: `input`, `output`, `score`, `step`, since verl 0.6 `gts`, and keys of the reward
function. Forks rename some of them. What has no place of its own is kept as it stands. A dump belongs to the
run in whose folder it lies.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping

from sitegen.ingest import jsonl
from sitegen.ingest.jsonfaults import Faults
from sitegen.ingest.source import Source
from sitegen.model import Batch, Sample

NAME = "generations"
ROLLOUT, VALIDATION, UNKNOWN = "rollout", "validation", "samples"

_INPUT = ("input", "inputs", "prompt", "prompts")
_OUTPUT = ("output", "outputs", "response", "responses", "completion")
_EXPECTED = ("gts", "gt", "ground_truth", "ground_truths", "expected")
_SCORE = ("score", "scores", "reward")
# One of these beside text and answer: a data set of questions and answers is no dump.
_TELLING = {*_EXPECTED, *_SCORE, "step", "global_step", "acc", "request_id", "uid"}
_TORN = re.compile(rb'\s*\{\s*"input"\s*:\s*["\[]')  # the first line is longer than the head

# Folders that verl's users give to dumps consist of such words; any other name is that of a run.
_WORD = re.compile(r"[a-z]+")
_VALIDATION_WORDS = {"val", "valid", "validation", "eval", "evaluation", "test"}
_ROLLOUT_WORDS = {"rollout", "rollouts", "train", "training"}
_NEUTRAL = {
    "data", "dir", "dump", "dumps", "dumped", "generation", "generations", "gen", "sample", "samples",
    "output", "outputs", "result", "results", "log", "logs", "jsonl", "json", "step", "steps", "global",
}  # fmt: skip
_NUMBER = re.compile(r"(\d{1,15})(?!.*\d)")
_V1_ROLLOUT = frozenset({"input", "output", "gts", "score", "step", "uid"})


def sniff(path: str, head: bytes) -> bool:
    """Whether the first records hold a prompt, an answer, and something that tells how it came about."""
    if b"{" not in head[:64]:
        return False
    found, looked = jsonl.objects(head, 3)
    if found:
        return sum(map(holds_sample, found)) * 2 >= looked
    return (
        bool(_TORN.match(head)) and b"\n" not in head and path.endswith((".jsonl", ".jsonl.gz", ".jsonl.zst"))
    )


def read(source: Source) -> Iterator[Batch]:
    """Samples in file order; lines that hold none become problems."""
    faults = Faults(source.path, record="generation")
    said = kind_of(source.path)
    named = step_of(source.path)
    with source.open() as stream:
        for first, lines in jsonl.stretches(stream, faults):
            found = (
                _line(line, number, said, named, faults)
                for number, line in enumerate(lines, first)
                if line.strip()
            )
            yield Batch(samples=tuple(each for each in found if each is not None))
    if problems := faults.problems():
        yield Batch(problems=problems)


def kind_of(path: str) -> str | None:
    """What the folders of a dump, the nearest first, say of it; None where they say nothing."""
    *folders, name = path.split("/")
    for part in (name.partition(".")[0], *reversed(folders)):
        words = set(_WORD.findall(part.lower()))
        if words & _VALIDATION_WORDS and words <= _VALIDATION_WORDS | _ROLLOUT_WORDS | _NEUTRAL:
            return VALIDATION
        if words & _ROLLOUT_WORDS and words <= _ROLLOUT_WORDS | _NEUTRAL:
            return ROLLOUT
        if not words <= _NEUTRAL:  # the name of a run: what is above it says nothing
            return None
    return None


def step_of(path: str) -> int | None:
    """The step that the name of a dump tells: `120.jsonl`, `val_step_120.jsonl`."""
    found = _NUMBER.search(path.rpartition("/")[2].partition(".")[0])
    return int(found[1]) if found else None


def holds_sample(has: Collection[str]) -> bool:
    """Whether these keys are those of a sample: a prompt, an answer, and what tells how it came about."""
    texts = any(key in has for key in _INPUT) and any(key in has for key in _OUTPUT)
    return texts and any(key in has for key in _TELLING)


def _line(line: bytes, number: int, said: str | None, named: int | None, faults: Faults) -> Sample | None:
    line = line.strip(b"\0 \t\r\n")
    if not line:
        return None
    try:
        record = jsonl.loads(line)
    except ValueError:
        record = jsonl.salvage(line)
        kept = isinstance(record, dict) and _has_texts(record)
        if line.startswith(b"{") and (kept or not line.endswith(b"}")):
            faults.torn(number, last=False, kept=kept)
        else:
            faults.bad(number, "it is not JSON")
        if not kept:
            return None
    if not isinstance(record, dict) or not _has_texts(record):
        faults.bad(number, "it has no input and output")
        return None
    return sample(record, number, said, named)


def _has_texts(record: Mapping[str, object]) -> bool:
    return any(key in record for key in _INPUT) and any(key in record for key in _OUTPUT)


def sample(record: Mapping[str, object], number: int, said: str | None, named: int | None) -> Sample:
    """The sample that a record holds. `said` and `named` are kind and step that its place tells."""
    extra = dict(record)
    given = _taken(extra, _INPUT), _taken(extra, _OUTPUT)
    expected = _taken(extra, _EXPECTED)
    step = next((jsonl.whole(record[key]) for key in ("step", "global_step") if key in record), None)
    for key in ("step", "global_step"):
        if jsonl.whole(record.get(key)) == step:
            extra.pop(key, None)
    return Sample(
        kind=said or _kind(record),
        step=named if step is None else step,
        line=number,
        input=text(given[0]),
        output=text(given[1]),
        expected=None if expected is None else text(expected),
        score=_score(extra),
        extra=extra,
    )


def _kind(record: Mapping[str, object]) -> str:
    """By keys: `request_id` is written for rollouts only, `reward` beside `score` for validations only."""
    if "request_id" in record or record.keys() == _V1_ROLLOUT:
        return ROLLOUT
    return VALIDATION if {"reward", "score"} <= record.keys() else UNKNOWN


def _taken(extra: dict[str, object], keys: tuple[str, ...]) -> object:
    """The value of the first of `keys` that is there, taken out."""
    key = next((key for key in keys if key in extra), None)
    return None if key is None else extra.pop(key)


def _score(extra: dict[str, object]) -> float | None:
    """The score, taken out where it is a finite number; else it stays as it was logged."""
    key = next((key for key in _SCORE if key in extra), None)
    if key is None:
        return None
    try:
        value = float(extra[key])  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(value):
        return None
    del extra[key]
    return value


def text(value: object) -> str:
    """A value of a record as text: as it is, or as JSON (a list of messages, say)."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact(value)


def compact(value: object) -> str:
    """`value` as JSON text on one line; NaN and infinities, which JSON lacks, as texts."""
    try:
        return json.dumps(_spelled(value), ensure_ascii=False, separators=(", ", ": "))
    except RecursionError:
        return '"nested too deeply to be kept"'


def _spelled(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _spelled(each) for key, each in value.items()}
    return value
