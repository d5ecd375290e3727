"""Runs of W&B through the public API of its package: every row of their history, settings, and some files.

Of each run a folder is made: `history.jsonl`, which `ingest.wandb_export` reads, and below `files/` what W&B
keeps of the run's folder: the console's output, metadata, settings, tables of validation samples.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitegen.errors import LiveError
from sitegen.live.address import Address, Copied
from sitegen.redact import redact

PAGE = 1000  # rows asked for at once
HISTORY = "history.jsonl"
_FILES = re.compile(
    r"output\.log|config\.yaml|wandb-metadata\.json|wandb-summary\.json|requirements\.txt"
    r"|media/table/(?:[\w@+=-][\w@+=. -]*/)*[\w@+=-][\w@+=. -]*\.table\.json"
)
_SAFE = re.compile(r"[\w-][\w.-]{0,127}")
_OVER = {"finished", "failed", "crashed", "killed"}
_INSTALL = "W&B is asked through its own package. Install it: pip install 'sitegen[wandb]'"
Say = Callable[[str], None]


def copy(address: Address, folder: Path, say: Say) -> Copied:
    """Bring the copies in `folder` up to date, a folder per run. Raises LiveError."""
    entity, project, *run = address.wanted.split("/")
    with _asking(address):
        found = list(_runs(entity, project, run))
    fetched = 0
    lost: list[LiveError] = []
    for each in found:
        try:
            with _asking(address):
                fetched += _run(each, folder, say)
        except LiveError as error:  # one bad run never stops the others
            say(f"{each.id} was left out: {error}")
            lost.append(error)
    if lost and len(lost) == len(found):
        raise lost[0]
    return Copied(len(found), fetched)


def _runs(entity: str, project: str, run: list[str]) -> Iterator[Any]:
    try:
        import wandb
    except ImportError as error:
        raise LiveError(f"{_INSTALL}.") from error
    os.environ.setdefault("WANDB_SILENT", "true")
    api = wandb.Api()
    if run:
        yield api.run(f"{entity}/{project}/{run[0]}")
    else:
        yield from api.runs(f"{entity}/{project}")


@contextmanager
def _asking(address: Address) -> Iterator[None]:
    """Whatever W&B's package raises as a LiveError of one line."""
    try:
        yield
    except LiveError:
        raise
    except Exception as error:  # the package raises what lies below it as well
        why = redact(" ".join(str(error).split())[:300])[0]
        raise LiveError(
            f"W&B does not give {address}: {type(error).__name__}: {why}. Check the names; set WANDB_API_KEY "
            "(and WANDB_BASE_URL for a server of your own). What was copied before stays."
        ) from None


def _run(run: Any, above: Path, say: Say) -> bool:
    """Fetch a run into a folder of its own where it is not known to be unchanged; whether it changed."""
    if not _SAFE.fullmatch(run.id):
        raise LiveError("its id is no name for a folder")
    folder, seen = above / run.id, _seen(run)
    known = _header(folder / HISTORY)
    if known.get("seen") == seen and known.get("state") in _OVER:
        return False
    say(f"fetching {run.name or run.id}")
    _private(folder)
    files = _files(run, folder / "files")
    made = folder / f".{HISTORY}.part"
    with made.open("w", encoding="utf-8", errors="replace") as out:
        out.write(_json(_about(run, seen)))
        for row in _history(run):
            out.write(_json(row))
    if (folder / HISTORY).is_file() and (folder / HISTORY).read_bytes() == made.read_bytes():
        made.unlink()
        return files
    made.replace(folder / HISTORY)
    return True


def _history(run: Any) -> Iterator[dict[str, object]]:
    """All rows in the order of their steps, page by page: nothing is sampled.

    What an earlier scan left in W&B's cache is not used. W&B has a step once, while its package may hand out
    one twice where exported rows and newer ones meet.
    """
    if run.lastHistoryStep < 0:
        return  # nothing was logged
    fresh = {"use_cache": False} if "use_cache" in inspect.signature(run.scan_history).parameters else {}
    seen: set[object] = set()
    for row in run.scan_history(page_size=PAGE, **fresh):
        step = row.get("_step")
        if step is None or step not in seen:
            seen.add(step)
            yield row


def _seen(run: Any) -> str:
    """Hash of what W&B lists of a run: it changes whenever something is logged."""
    keys = ("state", "name", "heartbeatAt", "historyLineCount", "group", "tags")
    said = [getattr(run, key, None) for key in keys]
    return hashlib.sha256(_json(said).encode("utf-8", "replace")).hexdigest()[:32]


def _about(run: Any, seen: str) -> dict[str, object]:
    return {
        "wandb_history": 1,
        "seen": seen,
        "entity": run.entity,
        "project": run.project,
        "run": run.id,
        "name": run.name,
        "group": getattr(run, "group", None),
        "state": run.state,
        "commit": getattr(run, "commit", None),
        "started": getattr(run, "createdAt", None),
        "ended": getattr(run, "heartbeatAt", None),
        "config": dict(run.config),
    }


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False) + "\n"


def _header(file: Path) -> dict[str, object]:
    """What the first line of a copy says; nothing where there is none."""
    try:
        with file.open(encoding="utf-8") as stream:
            found = json.loads(stream.readline())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _private(folder: Path) -> None:
    """The folder, which only its owner may read: nothing is redacted there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise LiveError(f"cannot write '{folder}': {error.strerror}. Give a folder you may write.") from error


def _files(run: Any, folder: Path) -> bool:
    """Download the files that are read and not here yet; whether there were any."""
    new = False
    for each in run.files():
        if _FILES.fullmatch(each.name) and not _same(folder / each.name, each):
            # A file of that name elsewhere first: an interrupted download leaves nothing.
            made = folder.with_name(".download")
            each.download(root=str(made), replace=True).close()
            (folder / each.name).parent.mkdir(parents=True, exist_ok=True)
            (made / each.name).replace(folder / each.name)
            shutil.rmtree(made, ignore_errors=True)
            new = True
    return new


def _same(kept: Path, each: Any) -> bool:
    """Whether a file is here already, by size and hash."""
    if not kept.is_file() or kept.stat().st_size != each.size:
        return False
    digest = hashlib.md5(kept.read_bytes(), usedforsecurity=False).digest()
    return getattr(each, "md5", None) in (base64.b64encode(digest).decode(), digest.hex())
