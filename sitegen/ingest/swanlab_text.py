"""A validation sample as verl before 0.5 sent it to SwanLab: one text with three parts between rules."""

from __future__ import annotations

import re

NAMED = re.compile(r"(?:\A|/)media/text/\d{1,15}-[0-9a-f]{4,}\.txt\Z")
_START = re.compile(r"\A\s*input: ")
_OUTPUT = re.compile(r"\n *\n *---\n *\n *output: ")
_SCORE = re.compile(r"\n *\n *---\n *\n *score: ")


def parsed(text: str, *, cut: bool = False) -> dict[str, object] | None:
    """The record of a text, or of one that may be `cut` its start; None where parts cannot be told apart."""
    start = _START.match(text)
    if start is None:
        return None
    outputs, scores = list(_OUTPUT.finditer(text)), list(_SCORE.finditer(text))
    if cut:
        return {"input": text[start.end() :]}
    if len(outputs) != 1 or len(scores) != 1 or scores[0].start() < outputs[0].end():
        return None  # the prompt or the answer looks like what stands between them
    return {
        "input": text[start.end() : outputs[0].start()],
        "output": text[outputs[0].end() : scores[0].start()],
        "score": text[scores[0].end() :].strip(),
    }
