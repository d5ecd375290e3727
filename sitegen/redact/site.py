"""What a site takes out besides, and which addresses it leaves: the setting `redact` of mkdocs.yml.

It holds while an archive is updated, in this thread; a process that reads runs for another one sets it anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sitegen.config import Redaction

_MARK = re.compile(r"(\[redacted:[a-z0-9-]+\])")


@dataclass(frozen=True, slots=True)
class _Asked:
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    domains: tuple[str, ...] = ()


_asked: ContextVar[_Asked] = ContextVar("asked", default=_Asked())  # noqa: B039 - it is frozen


@contextmanager
def using(redaction: Redaction) -> Iterator[None]:
    """Redact as a site asks, until the block ends."""
    patterns = tuple((kind, re.compile(text)) for kind, text in redaction.patterns)
    token = _asked.set(_Asked(patterns, redaction.keep_emails_of))
    try:
        yield
    finally:
        _asked.reset(token)


def asks() -> bool:
    """Whether there are patterns of the site, which may match in a text of any length."""
    return bool(_asked.get().patterns)


def keeps(address: str) -> bool:
    """Whether an e-mail address is of a domain, or of one below it, whose addresses stay."""
    domain = address.rpartition("@")[2].casefold()
    return any(domain == kept or domain.endswith(f".{kept}") for kept in _asked.get().domains)


def taken_out(text: str, found: Counter[str]) -> str:
    """`text` without what the site's patterns match, outside of marks; counted in `found`."""
    for kind, pattern in _asked.get().patterns:
        if pattern.search(text) is None:
            continue
        pieces = _MARK.split(text)
        for i in range(0, len(pieces), 2):
            pieces[i] = _replaced(pieces[i], kind, pattern, found)
        text = "".join(pieces)
    return text


def _replaced(text: str, kind: str, pattern: re.Pattern[str], found: Counter[str]) -> str:
    def mark(match: re.Match[str]) -> str:
        if not match[0]:
            return ""
        found[kind] += 1
        return f"[redacted:{kind}]"

    return pattern.sub(mark, text)
