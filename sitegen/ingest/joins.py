"""Where a step line starts within a line, and which line goes on with the record before it.

A terminal wraps at its width, wherever that falls: inside a name, a number or a separator. What it cut is put
together by plain concatenation.
"""

from __future__ import annotations

import re

from sitegen.ingest import pieces
from sitegen.ingest.pieces import SEPARATOR

MAX_RECORD = 1 << 20  # characters
_BAR_END = re.compile(r"(?:it|s|it/s|s/it|[\w?]+)\]\s*$")
_SPEAKER_END = re.compile(r"\((?:[^()\n]{1,120} )?pid=\d+(?:, ip=[^()\s]+)?\) ?$")
_LOG_MARK = re.compile(r"(?:^|[\s\])>|:,-])$")
_DIGITS = re.compile(r"[\d.eE+\-]{1,24}\)?")
_WORD = re.compile(r"[\w./@():+\-]{1,240}")


def step_at(body: str) -> int | None:
    """Where a step line starts in `body`: at its start, behind a progress bar or behind a log's own mark."""
    at = body.find("step:")
    while at >= 0:
        if pieces.STEP.match(body, at) and (not body[:at].strip() or _may_precede(body, at)):
            return at
        at = body.find("step:", at + 5)
    return None


def _may_precede(body: str, at: int) -> bool:
    """Whether the text before a step line ends in a bar or a speaker, or the record is beyond doubt."""
    before = body[:at]
    if _BAR_END.search(before) or _SPEAKER_END.search(before):
        return pieces.record(body[at:]) is not None
    if len(before) > 400 or not _LOG_MARK.search(before):
        return False
    found = pieces.record(body[at:])
    if found is None or found.unread or found.prose:
        return False
    return any(name.partition("/")[0] in pieces.GROUPS for name in found.raws)


def continues(tail: str, body: str, wrapped: bool, same_width: bool) -> bool:
    """Whether `body`, the next physical line, goes on with a record whose last piece is `tail` so far.

    `wrapped`: the record was already seen to be wrapped; `same_width`: the line before was as long as this.
    """
    if len(body) > MAX_RECORD or step_at(body) is not None:
        return False
    if body.startswith((SEPARATOR, "- ")):
        texts = body.partition("- ")[2].rstrip().split(SEPARATOR)
        return pieces.metric(texts[0]) or (len(texts) == 1 and wrapped and pieces.unfinished(texts[0]))
    head, separator, rest = (body if tail else body.lstrip()).partition(SEPARATOR)
    if not separator:
        return _ends(tail, head.removesuffix(" -").rstrip(), wrapped, same_width)
    joined = _joined(tail, head)
    *inner, last = rest.rstrip().split(SEPARATOR)
    sure = bool(inner) or joined
    return (
        (joined or _WORD.fullmatch(head) is not None)
        and all(map(pieces.metric, inner))
        and (pieces.metric(last) or (sure and pieces.unfinished(last.removesuffix(" -"))))
    )


def _ends(tail: str, head: str, wrapped: bool, same_width: bool) -> bool:
    """Whether `head`, a line without a separator, goes on with the piece `tail`."""
    if _WORD.fullmatch(head) is None:
        return False
    if _joined(tail, head):
        return wrapped or pieces.piece(tail) is None
    return same_width and pieces.piece(tail) is None and pieces.unfinished(tail + head)


def _joined(tail: str, head: str) -> bool:
    """Whether `tail` and `head` are one piece: the rest of a name, or more digits of a number."""
    if pieces.piece(tail + head) is None:
        return False
    return pieces.piece(tail) is None or _DIGITS.fullmatch(head) is not None


def glue(before: str, body: str) -> str:
    """`body` with the blank that a terminal swallowed at the wrap, where it swallowed one."""
    if before.endswith(" -") and not body.startswith(" "):
        return " " + body
    if body.startswith("- ") and not before.endswith(" "):
        return " " + body
    return body
