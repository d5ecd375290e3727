"""Validation samples that verl sends to TensorBoard: one text per step, its parts between fixed lines."""

from __future__ import annotations

import re

from sitegen.ingest.generations import VALIDATION, sample
from sitegen.model import Sample

_HEAD = re.compile(r"\A\*\*Generation Results - Step (-?\d{1,15})\*\*\n\n(?=### Sample 1\n\*\*Input:\*\* )")
_PARTS = ("**Input:** ", "\n\n**Output:** ", "\n\n**Score:** ")
_END = "\n\n---\n\n"


def parsed(words: str, step: int) -> tuple[Sample, ...]:
    """The samples of a text; none where it is another text, or where its parts cannot be told apart."""
    head = _HEAD.match(words)
    if head is None:
        return ()
    found: list[Sample] = []
    rest, more = words[head.end() :].removeprefix("### Sample 1\n"), True
    while more:
        title = f"{_END}### Sample {len(found) + 2}\n"
        more = title in rest
        if rest.count(title) > 1:
            return ()  # a prompt or an answer looks like what stands between samples
        body, _, rest = rest.partition(title)
        record = _record(body if more else body.removesuffix(_END))
        if record is None:
            return ()
        found.append(sample(record, len(found) + 1, VALIDATION, step))
    return tuple(found)


def _record(body: str) -> dict[str, object] | None:
    """Prompt, answer and score; None where what stands between them is there more than once."""
    given, output, score = _PARTS
    if not body.startswith(given) or body.count(output) != 1 or body.count(score) != 1:
        return None
    text, _, rest = body.removeprefix(given).partition(output)
    answer, found, number = rest.partition(score)
    return {"input": text, "output": answer, "score": number} if found else None
