"""Real logs: every value found is true, and only what W&B cut is missing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from sitegen.ingest import sniff
from sitegen.ingest.source import Source
from sitegen.model import Batch

pytestmark = pytest.mark.corpus

# log, reader, distinct steps, first step, last step
LOGS = (
    ("001", "console", 435, 0, 434),
    ("004", "console", 59, 0, 58),
    ("010", "console", 12, 0, 11),
    ("012", "console", 372, 1, 372),
    ("014", "console", 60, 0, 59),
    ("019", "console", 40, 0, 39),
    ("024", "console", 49, 1, 49),
    ("027", "console", 0, None, None),
    ("030", "console", 110, 0, 109),
    ("036", "console", 10, 1, 10),
    ("040", "console", 10, 0, 9),
    ("049", "console", 0, None, None),
    ("053", "console", 0, None, None),
    ("082", "console", 2, 1, 2),
    ("084", "markdown", 17, 383, 399),
    ("089", "console", 1, 67, 67),
    ("091", "console", 1, 60, 60),
    ("092", "console", 1, 1, 1),
    ("094", "console", 1, 59, 59),
    ("095", "console", 1, 1, 1),
    ("098", "console", 1, 3, 3),
    ("113", "console", 7, 1, 7),
)
HISTORIES = (("010", "099"), ("014", "101"), ("019", "103"), ("024", "105"))
UNCUT_NAMES = ("val/generations/",)  # a table that W&B keeps beside the metrics; the console never prints it


@dataclass
class Merged:
    """All records of a log, merged by step."""

    format: str
    values: dict[int, dict[str, float]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    clashes: list[tuple[int, str]] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)


def load(corpus: Path, number: str) -> Merged:
    (file,) = (corpus / "logs").glob(f"{number}-*")
    source = Source(file.name, file)
    form = sniff(source)
    assert form is not None, f"{file.name} was not recognised"
    merged = Merged(form.NAME, batches=list(form.read(source)))
    for batch in merged.batches:
        rows = batch.rows
        if rows is None:
            continue
        for step in rows.steps:
            merged.values.setdefault(int(step), {})
        merged.cut.update(int(rows.steps[i]) for i in rows.cut)
        for name, column in rows.columns.items():
            for i in np.flatnonzero(~np.isnan(column)):
                known = merged.values[int(rows.steps[i])].setdefault(name, float(column[i]))
                if known != column[i]:
                    merged.clashes.append((int(rows.steps[i]), name))
    return merged


@pytest.mark.parametrize(("number", "reader", "count", "first", "last"), LOGS, ids=[row[0] for row in LOGS])
def test_a_log_has_the_steps_that_its_row_in_the_table_names(
    corpus: Path, number: str, reader: str, count: int, first: int | None, last: int | None
) -> None:
    merged = load(corpus, number)
    steps = sorted(merged.values)
    assert merged.format == reader
    assert len(steps) == count
    assert (steps[0] if steps else None, steps[-1] if steps else None) == (first, last)


@pytest.mark.parametrize(("number", "reader", "count", "first", "last"), LOGS, ids=[row[0] for row in LOGS])
def test_no_log_contradicts_itself(
    corpus: Path, number: str, reader: str, count: int, first: int | None, last: int | None
) -> None:
    assert load(corpus, number).clashes == []


@pytest.mark.parametrize(("number", "history"), HISTORIES)
def test_every_value_equals_the_history_that_wandb_kept(corpus: Path, number: str, history: str) -> None:
    merged = load(corpus, number)
    truth = _history(corpus, history)
    wrong, missing, compared = [], [], 0
    for step in truth.keys() & merged.values.keys():
        for name, value in truth[step].items():
            found = merged.values[step].get(name)
            if found is None:
                missing.append((step, name))
            else:
                compared += 1
                wrong += [(step, name, found, value)] if found != value else []
        extra = merged.values[step].keys() - truth[step].keys()
        assert not extra, f"step {step} holds names that the run never logged: {sorted(extra)}"
    assert wrong == []
    assert compared > 70 * len(truth)
    assert truth.keys() <= merged.values.keys()
    assert merged.values.keys() - truth.keys() == {max(merged.values)}
    assert {step for step, _ in missing} <= merged.cut


def _history(corpus: Path, number: str) -> dict[int, dict[str, float]]:
    (file,) = (corpus / "logs").glob(f"{number}-*")
    records = [json.loads(line) for line in file.read_text().splitlines()]
    return {
        record["step"]: {
            name: float(value)
            for name, value in record["data"].items()
            if not name.startswith(UNCUT_NAMES) and isinstance(value, (int, float))
        }
        for record in records
    }


def test_lines_that_ended_a_run_stand_out_from_those_it_survived(corpus: Path) -> None:
    fatal = {
        number: {
            line.kind
            for b in load(corpus, number).batches
            for line in b.log_lines
            if line.level == "critical"
        }
        for number in ("027", "049", "036", "113", "089")
    }
    assert fatal == {"027": {"cuda_oom"}, "049": {"cuda_oom"}, "036": set(), "113": set(), "089": set()}


def test_the_printed_config_is_found(corpus: Path) -> None:
    (config,) = [b.config for b in load(corpus, "053").batches if b.config]
    assert config["trainer.experiment_name"] == "gsm8k"
    assert config["actor_rollout_ref.actor.optim.lr"]
    assert config["trainer.validation_data_dir"] == "None"


def test_verls_own_console_writer_is_read_in_full(corpus: Path) -> None:
    file = corpus / "trackers" / "console" / "stdout.log"
    source = Source(file.name, file)
    form = sniff(source)
    assert form is not None
    found: dict[int, dict[str, float]] = {}
    odd = []
    for batch in form.read(source):
        if batch.rows is not None:
            odd += [(int(batch.rows.steps[o.row]), o.name, o.raw) for o in batch.rows.non_finite]
            for name, column in batch.rows.columns.items():
                for i in np.flatnonzero(~np.isnan(column)):
                    found.setdefault(int(batch.rows.steps[i]), {})[name] = float(column[i])
    truth: dict[int, dict[str, float]] = {}
    (kept,) = (corpus / "trackers" / "file" / "demo_proj").glob("*.jsonl")
    for line in kept.read_text().splitlines():
        record = json.loads(line)
        numbers = {n: float(v) for n, v in record["data"].items() if isinstance(v, (int, float))}
        truth.setdefault(record["step"], {}).update(numbers)
    assert found == truth
    assert {raw for _, _, raw in odd} == {"nan", "inf"} or {raw for _, _, raw in odd} == {
        "nan",
        "inf",
        "-inf",
    }
