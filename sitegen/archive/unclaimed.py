"""Why no format claims a file that its name, or what can be read of it, says should be a log."""

from __future__ import annotations

from dataclasses import replace

from sitegen import ingest
from sitegen.archive.walk import Found
from sitegen.errors import Problem
from sitegen.ingest import jsonl
from sitegen.ingest.seed_metrics import STEP_KEYS
from sitegen.ingest.source import Source

_LOGS = (".log", ".out", ".txt", ".jsonl", ".ipynb", ".wandb", ".swanlab", ".db", ".csv")
_PACKED = (".gz", ".zst")
_ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".bz2", ".xz")
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard"}
_AGAIN = "Copy the file again if you can."


def why(each: Found, source: Source) -> Problem | None:
    """The problem with a file that no format claims; None when it is simply no log.

    Raises SourceTooLarge for a bomb, and what `Source.open` raises.
    """
    source.probe()
    name = each.name.lower()
    if name.endswith(_ARCHIVES) and each.size:
        what = "packed in a way that is not opened: gzip and Zstandard of single files are"
        return Problem(each.path, None, "unsupported", what, "Unpack it; what is a log in it will be read.")
    packed = name.endswith(_PACKED)
    head = source.head(ingest.HEAD)
    if source.notes:
        note = source.notes[0]
        return note if head else replace(note, message=f"{note.message.partition(';')[0]}; nothing precedes")
    if not head:
        what = "the file is empty" if not each.size else "the file unpacks to nothing"
        logs = tuple(f"{log}{pack}" for log in _LOGS for pack in ("", *_PACKED))
        logged = name.endswith((*logs, *_PACKED)) or ".tfevents." in name
        return Problem(each.path, None, "empty", what, _AGAIN) if logged else None
    inner = next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)
    if inner:
        what = f"packed twice: what is in it is {inner} data again"
        return Problem(each.path, None, "unreadable", what, "Unpack it once.")
    if packed and not _is_text(head):
        what = f"neither text nor whole {'gzip' if name.endswith('.gz') else 'Zstandard'} data"
        return Problem(each.path, None, "unreadable", what, _AGAIN)
    return _stepless(each, head) if name.removesuffix(".gz").removesuffix(".zst").endswith(".jsonl") else None


def _is_text(head: bytes) -> bool:
    strange = sum(byte < 32 and byte not in b"\t\n\r\x1b\x08\x0c" for byte in head[:4096])
    return strange * 50 <= len(head[:4096])


def _stepless(each: Found, head: bytes) -> Problem | None:
    """The problem with JSON records none of which has a step."""
    found, _ = jsonl.objects(head)
    if not found or any(jsonl.whole(record.get(key)) is not None for record in found for key in STEP_KEYS):
        return None
    what = f"no record has a step: a whole number under any of {', '.join(STEP_KEYS[:4])}, …"
    return Problem(each.path, None, "no-step", what, "Log the step with the metrics, under `step`.")
