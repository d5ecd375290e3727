"""`runs/removed.toml`: runs that were taken out, so that their pages can say so.

[[run]]
id = "old-run"
date = 2026-01-05
why = "trained on the test set"
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from sitegen.errors import Problem
from sitegen.ingest.source import Source, SourceRefused
from sitegen.redact import redact

NAME = "removed.toml"


def load(root: Path) -> tuple[tuple[tuple[str, str, str], ...], tuple[Problem, ...]]:
    """Entries (id, date, why) by id, and what was wrong with the file. No file, no entries."""
    file = root / NAME
    if not file.is_file() or file.is_symlink():
        return (), ()
    try:
        table = tomllib.loads(Source(NAME, file).head(1 << 20).decode("utf-8"))
    except (OSError, SourceRefused, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return (), (Problem(NAME, None, "run-toml", f"cannot be read: {error}", "Mend the file."),)
    entries: list[tuple[str, str, str]] = []
    problems: list[Problem] = []
    given: list[object] = next(
        (table[key] for key in ("run", "runs", "removed") if isinstance(table.get(key), list)), []
    )
    for n, entry in enumerate(given, 1):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]:
            said = (entry["id"], str(entry.get("date", "")), str(entry.get("why", "")))
            run, date, why = (redact(text)[0] for text in said)
            entries.append((run, date, why))
        else:
            problems.append(Problem(NAME, None, "run-toml", f"entry {n} has no id", "Give id, date and why."))
    if table and not given:
        problems.append(
            Problem(NAME, None, "run-toml", "no [[run]] entries found", "Write [[run]] with id, date, why.")
        )
    return tuple(sorted(entries)), tuple(problems)
