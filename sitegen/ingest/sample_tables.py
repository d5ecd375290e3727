"""Tables of validation samples that verl sends to trackers, as files beside what the tracker keeps.

W&B: `media/table/val/generations_<step>_<hash>.table.json`, which grows with each validation: a file holds
what those before it hold. MLflow: `artifacts/val_step<step>.json`. SwanLab:
`media/echarts/<step>-<hash>.json`, before verl 0.5 `media/text/<step>-<hash>.txt`, a sample per file.
Trackio: a `.jsonl` below `traces/` for each sample. A table belongs to the run of whose tracker it is; a row
that several hold counts once (see `archive.copies`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sitegen.errors import Problem
from sitegen.ingest import jsonl
from sitegen.ingest.conversation import said
from sitegen.ingest.generations import VALIDATION, holds_sample, kind_of, sample
from sitegen.ingest.jsonlist import TOP, Elements, Stretch
from sitegen.ingest.source import Source
from sitegen.ingest.swanlab_text import NAMED as SWANLAB_TEXT
from sitegen.ingest.swanlab_text import parsed
from sitegen.ingest.table_shape import Shape, shape
from sitegen.model import Batch, Sample

NAME = "sample-table"
MAX_COLUMNS = 1_000_000
_BATCH = 4 << 20  # bytes of a batch, about
_TEXT = 16 << 20  # bytes of a single sample's text
_COLUMNS = re.compile(r'"columns"\s*:\s*\[')
_DATA = re.compile(r'"data"\s*:\s*\[')
_ROWS = re.compile(r'"rowData"\s*:\s*\[')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MLFLOW = re.compile(r"val_step(\d{1,15})\.json")
_STEP = re.compile(r"(?:.*_)?(\d{1,15})[_-][0-9a-f]+\.")  # `generations_61_2a69….table.json`, `060-d335.json`
_HINT = "Copy the file again if you can."


def sniff(path: str, head: bytes) -> bool:
    """Whether this is one of the five."""
    return _which(path, head) is not None


def read(source: Source) -> Iterator[Batch]:
    """Samples in the order of the rows; what cannot be read becomes a problem."""
    form = _which(source.path, source.head(1 << 16))
    if form == "swanlab-text":
        yield from _text(source)
    elif form == "trackio":
        yield from _trace(source)
    elif form is not None:
        yield from _table(source, form)


def order(path: str) -> tuple[int, str]:
    """What tables are read in the order of: the step that a name tells, then the name."""
    return _named(path) or 0, path


def _which(path: str, head: bytes) -> str | None:
    start = head[:4096].lstrip()
    name = path.rpartition("/")[2]
    if start.startswith(b"["):
        return "mlflow" if _MLFLOW.fullmatch(name) else None
    if start.startswith(b"{"):
        if b'"trackio"' in start and b'"session"' in start:
            return "trackio" if b'"validation_generations"' in head else None
        if b'"_swanLab"' in start and b'"rowData"' in head:
            return "swanlab" if holds_sample(_fields(head)) else None
        if b'"columns"' in start:
            return "wandb" if shape(_first_columns(head)) else None
    return "swanlab-text" if SWANLAB_TEXT.search(path) and parsed(_decoded(head), cut=True) else None


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _first_columns(head: bytes) -> list[str]:
    """Columns of a table as far as the head tells them; of a wide table the first will do."""
    text = _decoded(head)
    opening = _COLUMNS.search(text)
    if (
        opening is None
        or '"' in text[: opening.start()].strip(' {\n\r\t"')
        or "{" in text[1 : opening.start()]
    ):
        return []
    return _STRING.findall(text[opening.end() :].partition("]")[0])


def _fields(head: bytes) -> list[str]:
    """Keys of the first row of a SwanLab table."""
    text = _decoded(head)
    return re.findall(r'"field"\s*:\s*"([^"]{1,200})"', text.partition('"rowData"')[0])


def _named(path: str) -> int | None:
    """The step in the name of a table."""
    name = path.rpartition("/")[2]
    found = _MLFLOW.fullmatch(name) or _STEP.match(name)
    return int(found[1]) if found else None


def _kind(path: str, form: str) -> str:
    """Verl sends tables of validations only; W&B tables of others are called as people call them."""
    if form != "wandb":
        return VALIDATION
    inside = path.rpartition("media/table/")[2] or path
    return kind_of(re.sub(r"_\d+_[0-9a-f]+(?=\.)", "", inside)) or "samples"


def _table(source: Source, form: str) -> Iterator[Batch]:
    """Rows of a W&B, MLflow or SwanLab table."""
    kind, named = _kind(source.path, form), _named(source.path)
    opening = {"wandb": _DATA, "swanlab": _ROWS, "mlflow": TOP}[form]
    columns = _columns(source) if form == "wandb" else None
    rows = Elements(opening, "rows", columns.width if columns else 0)
    wide = columns.gathering() if columns else None
    bad: list[int] = []
    found = (
        sample(record, number, kind, named)
        for number, row in _numbered(rows.of(source))
        for record in (
            wide.records(row.first, [jsonl.storable(cell) for cell in row.cells], row.last)
            if wide and isinstance(row, Stretch)
            else _records(jsonl.storable(row), columns, bad, number)
        )
    )
    yield from _batches(found)
    if bad:
        what = f"{len(bad)} rows hold no sample, the first is row {bad[0]}"
        yield Batch(problems=(Problem(source.path, bad[0], "malformed", what),))
    if rows.damage:
        yield Batch(
            problems=tuple(
                Problem(source.path, None, "damaged", f"the table is damaged: {what}", _HINT)
                for what in rows.damage
            )
        )


def _numbered(rows: Iterator[object]) -> Iterator[tuple[int, object]]:
    """Rows with their numbers; all stretches of one have its number."""
    number = 0
    for row in rows:
        number += not (isinstance(row, Stretch) and row.first)
        yield number, row


def _columns(source: Source) -> Shape | None:
    names: list[str] = []
    for each in Elements(_COLUMNS, "columns").of(source):
        names.append(str(each))
        if len(names) >= MAX_COLUMNS:
            break
    return shape(names)


def _records(
    row: object, columns: Shape | None, bad: list[int], number: int
) -> Iterator[Mapping[str, object]]:
    if columns is not None and isinstance(row, list):
        yield from columns.records(row)
    elif columns is None and isinstance(row, dict) and holds_sample({*row, "step"}):
        yield row
    else:
        bad.append(number)


def _batches(found: Iterator[Sample]) -> Iterator[Batch]:
    held: list[Sample] = []
    size = 0
    for each in found:
        held.append(each)
        wide = 1 if each.input.isascii() and each.output.isascii() else 4  # bytes of a character
        size += wide * (len(each.input) + len(each.output))
        if size > _BATCH:
            yield Batch(samples=tuple(held))
            held, size = [], 0
    if held:
        yield Batch(samples=tuple(held))


def _text(source: Source) -> Iterator[Batch]:
    """The one sample of a text that verl before 0.5 sent to SwanLab."""
    raw = source.head(_TEXT + 1)
    record = parsed(_decoded(raw)) if len(raw) <= _TEXT else None
    if record is None:
        what = "which part of this text is prompt, answer and score cannot be told for sure; it was not read"
        yield Batch(problems=(Problem(source.path, None, "malformed", what),))
    else:
        yield Batch(samples=(sample(record, 1, VALIDATION, _named(source.path)),))


def _trace(source: Source) -> Iterator[Batch]:
    """The one sample of a Trackio trace without its database: a session, then its messages."""
    raw = source.head(_TEXT + 1)
    lines = [line for line in raw.split(b"\n") if line.strip()]
    try:
        session, *messages = (jsonl.loads(line) for line in lines)
        about = session["trackio"] if isinstance(session, dict) else None
        spoken = [each["message"] for each in messages if isinstance(each, dict) and "message" in each]
        record = said(spoken, about["metadata"])  # type: ignore[index]
        step = jsonl.whole(about["step"])  # type: ignore[index]
    except (ValueError, KeyError, TypeError):
        what = "the trace is no session with messages, or torn"
        yield Batch(problems=(Problem(source.path, None, "malformed", what, _HINT),))
        return
    yield Batch(samples=(sample(record, 1, VALIDATION, step),))
