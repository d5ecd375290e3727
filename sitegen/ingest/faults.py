"""What could not be read in a console log, bounded: the first of each kind in full, the rest counted."""

from __future__ import annotations

from sitegen.errors import Problem

SHOWN = 20
_HINTS = {
    "cut": "The run's .wandb file or FileLogger JSONL holds the whole record: put it beside this log.",
    "truncated": "Copy the file again when the run has ended; nothing can be done if this is all there is.",
    "repeat": "Log each name once per step.",
    "fragment": "Add the part of the log before this line if you have it.",
    "out-of-range": "Log the number of the training step, from 0 to 2^53.",
    "unreadable": "If this is a metric, log it as `name:number`.",
}


class Faults:
    """Problems of one source, by kind."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: dict[str, list[Problem]] = {}
        self._more: dict[str, list[int]] = {}

    def add(self, kind: str, line: int | None, message: str) -> None:
        """Note a problem; beyond `SHOWN` of a kind only its line is counted."""
        listed = self._found.setdefault(kind, [])
        if len(listed) < SHOWN:
            listed.append(Problem(self.path, line, kind, message, _HINTS.get(kind, "")))
        else:
            counted = self._more.setdefault(kind, [0, line or 0])
            counted[0] += 1

    def problems(self) -> tuple[Problem, ...]:
        """Everything noted, in the order of kinds first seen."""
        found: list[Problem] = []
        for kind, listed in self._found.items():
            found.extend(listed)
            if kind in self._more:
                count, line = self._more[kind]
                found.append(Problem(self.path, line, kind, f"{count} more problems of this kind", ""))
        return tuple(found)


def short(text: str, limit: int = 80) -> str:
    """`text` for a message: one line, quoted, bounded."""
    text = " ".join(text.split())
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
