"""A validation sample as Trackio keeps it: a conversation of two messages, the score beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SOURCE = "validation_generations"  # what verl puts into the metadata
_KNOWN = ("source", "sample_index", "score")


def said(messages: object, metadata: object) -> dict[str, object]:
    """The record of a sample. Raises ValueError for what is no such conversation."""
    if not isinstance(messages, Sequence) or not isinstance(metadata, Mapping):
        raise ValueError("no messages")
    texts: dict[str, list[object]] = {"user": [], "assistant": []}
    for each in messages:
        if isinstance(each, Mapping) and each.get("role") in texts:
            texts[str(each["role"])].append(_content(each.get("content")))
    if len(texts["user"]) != 1 or len(texts["assistant"]) != 1:
        raise ValueError("not a question and an answer")
    more = {str(key): value for key, value in metadata.items() if key not in _KNOWN}
    record: dict[str, object] = {"input": texts["user"][0], "output": texts["assistant"][0], **more}
    if metadata.get("score") is not None:
        record["score"] = metadata["score"]
    return record


def _content(content: object) -> object:
    """The text of a message: as it is, or the only part of a list of parts."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        return content[0].get("text", content)
    return content
