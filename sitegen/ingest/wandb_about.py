"""What W&B's log says about a run: configuration, project, code, machine, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from sitegen.ingest import literals
from sitegen.ingest.facts import gpu_name
from sitegen.ingest.wandb_history import items
from sitegen.ingest.wire import BYTES, VARINT, fields, signed, text
from sitegen.model import LogLine

_SECONDS, _NANOS = 1, 2
# field of EnvironmentRecord -> fact
_TEXTS = {2: "python", 25: "cuda"}
_STARTED, _ARGUMENT, _PROGRAM, _GIT, _GPU, _GPUS = 3, 5, 6, 9, 18, 19


class About:
    """Collects; `take` hands out what came since it was called last."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.step: int | None = None  # the newest
        self._config: dict[str, str] = {}
        self._facts: dict[str, str] = {}
        self._lines: list[LogLine] = []

    def take(self) -> tuple[Mapping[str, str], Mapping[str, str], tuple[LogLine, ...]]:
        """New configuration, facts and log lines."""
        found = self._config, self._facts, tuple(self._lines)
        self._config, self._facts, self._lines = {}, {}, []
        return found

    def run(self, data: bytes, start: int, end: int) -> None:
        """A RunRecord. Raises Malformed, as all of these."""
        for field, kind, a, b in fields(data, start, end):
            if kind != BYTES:
                continue
            if field == 1:
                self._note("wandb_run", text(data, a, b))
            elif field == 3:
                self._note("project", text(data, a, b))
            elif field == 8:
                self._note("experiment", text(data, a, b))
            elif field == 4:
                self.configure(data, a, b)
            elif field == 17:
                self._note("first_time", _time(data, a, b))
            elif field == 21:
                self._git(data, a, b)

    def configure(self, data: bytes, start: int, end: int) -> None:
        """A ConfigRecord: settings that were added or changed."""
        for name, value in items(data, start, end, 1):
            if not name.startswith("_wandb"):
                self._config.update(literals.flatten(literals.of_json(value), name))

    def environment(self, data: bytes, start: int, end: int) -> None:
        """An EnvironmentRecord: code and machine. Host, user and e-mail address are of no use here."""
        program, arguments = "", []
        for field, kind, a, b in fields(data, start, end):
            if kind == VARINT and field == _GPUS:
                self._note("gpus", str(a) if a else "")
            elif kind != BYTES:
                continue
            elif field == _PROGRAM:
                program = text(data, a, b)
            elif field == _ARGUMENT:
                arguments.append(text(data, a, b))
            elif field == _STARTED:
                self._note("first_time", _time(data, a, b))
            elif field == _GIT:
                self._git(data, a, b)
            elif field == _GPU:
                self._note("gpu", gpu_name(text(data, a, b)))
            elif field in _TEXTS:
                self._note(_TEXTS[field], text(data, a, b))
        self._note("command", command(program, arguments))

    def version(self, data: bytes, start: int, end: int) -> None:
        """A HeaderRecord."""
        for field, kind, a, b in fields(data, start, end):
            if field == 1 and kind == BYTES:
                producer = next(
                    (text(data, c, d) for n, k, c, d in fields(data, a, b) if (n, k) == (1, BYTES)), ""
                )
                self._note("wandb_version", producer.partition("+")[0])

    def exit(self, data: bytes, start: int, end: int, number: int) -> None:
        """A RunExitRecord. verl always finishes with 0; any other code is an error that the run died of."""
        found = {field: a for field, kind, a, _ in fields(data, start, end) if kind == VARINT}
        code = signed(found.get(1, 0))
        after = f" after {found[2]} s" if found.get(2) else ""
        level = "error" if code else "info"
        words = f"W&B: the run ended with exit code {code}{after}"
        self._lines.append(LogLine(self._path, number, None, level, "exit", self.step, words))

    def _git(self, data: bytes, start: int, end: int) -> None:
        for field, kind, a, b in fields(data, start, end):
            if kind == BYTES and field in (1, 2):
                self._note("remote" if field == 1 else "commit", text(data, a, b))

    def _note(self, key: str, value: str) -> None:
        if value:
            self._facts.setdefault(key, value)


def command(program: str, arguments: list[str]) -> str:
    """Command line of a run; "" for that of a Ray worker, which says nothing about the run."""
    if not program or program.endswith("default_worker.py"):
        return ""
    return " ".join(["python", program, *arguments])


def _time(data: bytes, start: int, end: int) -> str:
    """A Timestamp as Unix seconds; "" for one that is none."""
    found = {field: a for field, kind, a, _ in fields(data, start, end) if kind == VARINT}
    seconds = signed(found.get(_SECONDS, 0)) + signed(found.get(_NANOS, 0)) / 1e9
    return repr(seconds) if 0 < seconds < 1e11 else ""
