"""`Initial validation metrics: {…}` and `Final validation metrics: {…}`, printed over one or many lines.

verl passes the sentence through `pprint`, which breaks it into string literals at any blank; forks print it
as it is. The values belong to a step that the sentence does not name.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from sitegen.ingest import literals, pieces

_START = re.compile(
    r"(?P<opening>\(?\s*[\"'])?(?P<which>Initial|Final) validation metrics:\s*(?P<rest>.*)$", re.DOTALL
)
MAX_LINES = 20_000


class Announcement:
    """One such sentence while its lines arrive."""

    def __init__(self, line: int, speaker: str, body: str) -> None:
        match = _START.search(body)
        assert match is not None
        self.line = line
        self.speaker = speaker
        self.first = match["which"] == "Initial"
        self._quoted = match["opening"] is not None
        self._texts = [body[match.start() :]]
        self._depth = literals.balance(self._texts[0] if self._quoted else match["rest"])

    @property
    def complete(self) -> bool:
        """Whether no further line belongs to it."""
        return self._depth <= 0

    def goes_on(self, speaker: str, body: str) -> bool:
        """Take `body` if it belongs to the sentence."""
        if self.complete or speaker != self.speaker or len(self._texts) > MAX_LINES:
            return False
        if not body.lstrip().startswith(("'", '"', "}", "np.")) and self._quoted:
            return False
        self._texts.append(body)
        self._depth += literals.balance(body)
        return True

    def values(self) -> dict[str, float] | None:
        """Numbers by name; None when the sentence holds no dict (`None`) or cannot be read."""
        text = "\n".join(self._texts)
        sentence = literals.strings(text) if self._quoted else text
        found = literals.parse(sentence.partition("metrics:")[2])
        if not isinstance(found, dict):
            return None
        values = {}
        for name, raw in literals.flatten(found):
            value = pieces.number(raw)
            if value is not None:
                values[name] = value
        return values


@dataclass(frozen=True, slots=True)
class Waiting:
    """Validation values whose step is not known yet.

    Args:
        line: where they were printed.
        first: True for initial values, False for final ones.
        values: by name.
        since: records complete when they were printed.
        before: step of the newest record then.
        known: values of that record.
    """

    line: int
    first: bool
    values: dict[str, float]
    since: int
    before: int | None
    known: dict[str, float]

    def step(self, latest: int | None, names: Collection[str], resumed: int | None) -> int:
        """The step the values belong to.

        `latest` and `names` describe the first record after them (None: there is none); `resumed` is the step
        the run started from, if the log names it. Initial values were measured before the first training step,
        final ones after the last.
        """
        shared = latest is not None and any(name in names for name in self.values)
        if shared or (not self.first and latest == self.before):
            assert latest is not None
            return latest
        if not self.first and self.before is not None:
            return self.before
        if resumed is not None:
            return resumed
        return 0 if latest is None or latest <= 1 else latest - 1


def announces(body: str) -> bool:
    """Whether `body` starts such a sentence."""
    return "validation metrics:" in body and _START.search(body) is not None


def same(printed: float, exact: float) -> bool:
    """Whether two values are one: equal, or the first is the second with three decimals (old verl)."""
    return printed == exact or printed == round(exact, 3) or (printed != printed and exact != exact)
