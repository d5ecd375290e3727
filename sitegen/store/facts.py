"""Facts of runs as tables: runs, config, facts, segments, problems, summary, log_lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sitegen.metrics import glossary
from sitegen.model import LogLine, Run

#: Formats that hold numbers only: their silence about an error says nothing.
NUMBERS_ONLY = frozenset({"filelogger", "seed-metrics", "tensorboard", "wandb", "wandb-files"})

#: Columns of `runs` that are settings, and the configuration keys they are read from; the first number wins.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "lr_warmup_steps": ("actor_rollout_ref.actor.optim.lr_warmup_steps", "optim.lr_warmup_steps"),
    "critic_warmup": ("trainer.critic_warmup",),
    "test_freq": ("trainer.test_freq",),
    "save_freq": ("trainer.save_freq",),
    "rollout_n": ("actor_rollout_ref.rollout.n",),
    "train_batch_size": ("data.train_batch_size",),
    "max_response_length": ("data.max_response_length",),
}
WARMUP_RATIO = "actor_rollout_ref.actor.optim.lr_warmup_steps_ratio"

Row = tuple[Any, ...]
Columns = Sequence[tuple[str, pa.DataType]]

TEXT, WHOLE, REAL, FLAG = pa.string(), pa.int64(), pa.float64(), pa.bool_()

RUNS: Columns = (
    *(
        (name, TEXT)
        for name in ("run", "title", "project", "experiment", "algorithm", "model", "verl_version")
    ),
    ("hardware", TEXT),
    ("gpus", WHOLE),
    ("planned", REAL),
    ("finished", FLAG),
    ("growing", FLAG),
    ("steps", WHOLE),
    ("first_step", WHOLE),
    ("last_step", WHOLE),
    ("segments", WHOLE),
    ("formats", TEXT),
    ("started_at", REAL),
    ("ended_at", REAL),
    ("wall_s", REAL),
    ("gpu_hours", REAL),
    ("has_log", FLAG),
    *((name, REAL) for name in SETTINGS),
)
CONFIG: Columns = (
    ("run", TEXT),
    ("key", TEXT),
    ("setting", TEXT),
)  # cards answer with a `value` of their own
SEGMENTS: Columns = (
    ("run", TEXT),
    ("number", WHOLE),
    ("first", WHOLE),
    ("last", WHOLE),
    ("rows", WHOLE),
    ("source", TEXT),
    ("reason", TEXT),
)
PROBLEMS: Columns = (("run", TEXT), ("path", TEXT), ("line", WHOLE), ("kind", TEXT), ("message", TEXT))
SUMMARY: Columns = (
    ("run", TEXT),
    ("metric", TEXT),
    ("name", TEXT),
    ("n", WHOLE),
    *((name, REAL) for name in ("first", "last", "min", "max", "mean", "best")),
    ("best_step", WHOLE),
    ("non_finite", WHOLE),
)
LOG_LINES: Columns = (
    ("run", TEXT),
    ("path", TEXT),
    ("line", WHOLE),
    ("time", REAL),
    ("level", TEXT),
    ("kind", TEXT),
    ("step", WHOLE),
    ("text", TEXT),
)


def table(columns: Columns, rows: Iterable[Row]) -> pa.Table:
    """An Arrow table of `rows` in the order of `columns`."""
    taken = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pa.array(values, type=kind) for (_, kind), values in zip(columns, taken, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(list(columns)))


def runs(found: Sequence[Run]) -> pa.Table:
    """One row per run."""
    return table(RUNS, map(_run, found))


def has_log(run: Run) -> bool:
    """Whether a text log was read, so that its silence about errors means something."""
    return any(form not in NUMBERS_ONLY for form in run.formats)


def _run(run: Run) -> Row:
    return (
        run.id,
        run.title,
        run.project,
        run.experiment,
        run.algorithm,
        run.model,
        run.verl_version,
        run.hardware,
        run.gpus,
        run.planned_steps,
        run.finished,
        run.growing,
        run.steps,
        run.first_step,
        run.last_step,
        len(run.segments),
        " ".join(run.formats),
        run.started_at,
        run.ended_at,
        run.wall_s,
        run.gpu_hours,
        has_log(run),
        *_settings(run),
    )


def _settings(run: Run) -> Iterable[float | None]:
    for name, keys in SETTINGS.items():
        found = next(filter(_given, (number(run.config.get(key)) for key in keys)), None)
        if name == "lr_warmup_steps" and (found is None or found < 0):
            ratio = number(run.config.get(WARMUP_RATIO))  # verl: -1 steps means the ratio counts
            found = ratio * run.planned_steps if ratio is not None and run.planned_steps else None
        yield found


def _given(value: float | None) -> bool:
    return value is not None


def number(text: str | None) -> float | None:
    """`text` as a finite number, or None."""
    plain = text is not None and re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text.strip())
    return float(text) if plain and text is not None else None


def config(found: Sequence[Run]) -> pa.Table:
    """Settings as text."""
    return table(CONFIG, ((run.id, key, value) for run in found for key, value in sorted(run.config.items())))


def stated(found: Sequence[Run]) -> pa.Table:
    """What the files of runs mention in passing: versions, commit, command and more."""
    return table(CONFIG, (row for run in found for row in _stated(run)))


def _stated(run: Run) -> Iterable[Row]:
    own = {"commit": run.commit, "verl_version": run.verl_version}
    said = dict(run.facts) | {key: text for key, text in own.items() if text is not None}
    return ((run.id, key, said[key]) for key in sorted(said))


def segments(found: Sequence[Run]) -> pa.Table:
    """Stretches without a rewind."""
    return table(
        SEGMENTS,
        (
            (run.id, part.number, part.first, part.last, part.rows, part.source, part.reason)
            for run in found
            for part in run.segments
        ),
    )


def problems(found: Sequence[Run]) -> pa.Table:
    """What could not be read."""
    return table(PROBLEMS, problem_rows(found))


def problem_rows(found: Sequence[Run]) -> Iterable[Row]:
    """Rows of `problems`."""
    return ((run.id, one.path, one.line, one.kind, one.message) for run in found for one in run.problems)


def summary(found: Sequence[Run]) -> pa.Table:
    """Finite values of each metric over the live rows."""
    return table(
        SUMMARY, ((run.id, *_summary(run, place)) for run in found for place in range(len(run.summary)))
    )


def _summary(run: Run, place: int) -> Row:
    one = run.summary[place]
    values = (one.first, one.last, one.min, one.max, one.mean, one.best)
    return (one.metric, one.name, one.n, *values, one.best_step, one.non_finite)


def log_lines(lines: Mapping[str, Sequence[LogLine]]) -> pa.Table:
    """Lines kept because they matter."""
    return table(
        LOG_LINES,
        (
            (run, one.path, one.line, one.time, one.level, one.kind, one.step, one.text)
            for run in lines
            for one in lines[run]
        ),
    )


def event_lines(lines: Mapping[str, Sequence[LogLine]], runs: Mapping[str, Run]) -> pa.Table:
    """As `log_lines`, with `past`: the attempt ended there, and a later one logged steps beyond its last."""
    past = []
    for run in lines:
        ended = _overtaken(runs[run])
        past += [(one.path, one.step) in ended for one in lines[run]]
    return log_lines(lines).append_column("past", pa.array(past, FLAG))


def _overtaken(run: Run) -> frozenset[tuple[str, int | None]]:
    """(file, last step) of the attempts that a later one got beyond."""
    parts = run.segments
    return frozenset(
        (part.source, part.last)
        for place, part in enumerate(parts)
        if any(later.last > part.last for later in parts[place + 1 :])
    )


#: Tables that need nothing but the runs themselves.
OF_RUNS: Mapping[str, Callable[[Sequence[Run]], pa.Table]] = {
    "runs": runs,
    "config": config,
    "facts": stated,
    "segments": segments,
    "problems": problems,
    "summary": summary,
}


def metric_keys() -> tuple[str, ...]:
    """Every canonical key of the glossary."""
    return tuple(metric.key for metric in glossary().metrics)
