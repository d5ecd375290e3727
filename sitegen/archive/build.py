"""One run: its files -> its folder in the archive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyarrow import ArrowException

from sitegen.archive import (
    clock,
    columns,
    disagreements,
    facts,
    fingerprint,
    notes,
    parquet,
    portable,
    runjson,
    runtoml,
    samples,
    settings,
    traces,
)
from sitegen.archive.gather import Gatherer
from sitegen.archive.merge import Plan, plan, trusted
from sitegen.archive.planned import Input, RunPlan
from sitegen.archive.runtoml import RunToml
from sitegen.archive.samples import SampleFile
from sitegen.archive.spool import Spool
from sitegen.archive.stage import Staged, derived, stage
from sitegen.archive.summary import Spent, Summing
from sitegen.archive.traces import TraceFile
from sitegen.errors import Problem
from sitegen.ingest import (
    Format,
    Mangling,
    by_name,
    console,
    exported,
    filelogger,
    generations,
    mlflow_tracefiles,
)
from sitegen.model import LogLine, Mute, Run
from sitegen.redact import redact, using

SPOOLED = 48 << 20  # bytes of values kept in memory while a run is read; the rest waits on disk
MAX_PROBLEMS = 1000  # per run; the rest is counted


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a run: whether its folder changed, and the content hashes of its files."""

    id: str
    fingerprint: str
    changed: bool
    shas: tuple[tuple[str, str], ...]


def build(run: RunPlan, archive: Path) -> Built:
    """Bring the folder of a run up to date: replaced as a whole, or left alone when nothing changed."""
    with using(run.redaction):
        return _build(run, archive)


def _build(run: RunPlan, archive: Path) -> Built:
    inputs, lost = fingerprint.hashed(run.inputs)
    said, _ = fingerprint.hashed((*([run.toml] if run.toml else []), *run.notes))  # their readers tell
    shas = tuple((each.path, each.sha or "") for each in (*inputs, *said))
    mark = fingerprint.of(run, shas, lost)
    folder = archive / run.id
    if fingerprint.kept(folder) == mark:
        return Built(run.id, mark, False, shas)
    made = archive / f".new-{run.id}-{os.getpid()}"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    try:
        _write(replace(run, inputs=inputs), lost, mark, made)
        _swap(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return Built(run.id, mark, True, shas)


def _swap(made: Path, folder: Path) -> None:
    """Put a finished folder in place. A reader sees the old one or the new one, each whole."""
    old = folder.with_name(f".old-{folder.name}")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _write(run: RunPlan, lost: Sequence[Problem], mark: str, folder: Path) -> None:
    toml = RunToml()
    if run.toml is not None:
        toml = runtoml.load(run.toml.source)
    taken = _taken_over(run, toml, lost, mark, folder)
    record, names = taken or _made(run, toml, lost, mark, folder)
    record = _noted(record, run.notes)
    (folder / "run.json").write_bytes(runjson.dumps(record, names))
    fingerprint.keep(folder, mark)


def _noted(record: Run, files: Sequence[Input]) -> Run:
    """`record` with the notes in `files`; those of an export give way to a file on the same thing."""
    written, told = notes.load(each.source for each in files)
    anew = {each.anchor for each in written}
    kept = (each for each in record.written if each.anchor not in anew)
    found = sorted((*kept, *written), key=lambda each: (each.anchor, each.path))
    return replace(record, written=tuple(found), problems=_limited((*record.problems, *told)))


def _taken_over(
    run: RunPlan, toml: RunToml, lost: Sequence[Problem], mark: str, folder: Path
) -> tuple[Run, Mapping[str, str]] | None:
    """An exported run as it is; None for anything else, and for one that its reader has to look at."""
    if [each.format for each in run.inputs] != [exported.NAME]:
        return None
    try:
        found, names, told = portable.restore(run.inputs[0].source, folder)
    except (OSError, ValueError, KeyError, TypeError, ArrowException):
        for name in (samples.NAME, traces.NAME):
            (folder / name).unlink(missing_ok=True)
        return None
    found = portable.adopted(found, toml)
    if run.toml is not None:
        mutes = tuple(map(_mute, toml.mutes)) or found.mutes
        found = replace(
            found, toml=run.toml.path, mutes=mutes, presets=toml.asked("presets") or found.presets
        )
    problems = (*toml.problems, *run.problems, *lost, *found.problems, *told)
    return replace(found, id=run.id, path=run.path, fingerprint=mark, problems=problems), names


def _made(
    run: RunPlan, toml: RunToml, lost: Sequence[Problem], mark: str, folder: Path
) -> tuple[Run, Mapping[str, str]]:
    """A run out of its logs."""
    with Spool(folder / "spool", SPOOLED) as spool:
        with SampleFile(folder, twice=_twice(run.inputs)) as dumps, TraceFile(folder) as traced:
            staged = _staged(run.inputs, spool, dumps, traced)
        rows = plan(staged, spool)
        gatherer = Gatherer(rows, spool, [each.file.path for each in staged])
        stored = columns.stored(gatherer.names)
        live, spent = _write_rows(folder, rows, gatherer, stored)
    lines = _lines(staged)
    parquet.write_lines(folder, lines)
    config = settings.settled(staged)
    problems = [
        *toml.problems, *run.problems, *lost, *(p for each in staged for p in each.problems),
        *config.problems, *dumps.problems(run.path), *disagreements.told(gatherer.disagreements.values()),
    ]  # fmt: skip
    found = facts.known(run.path, toml, config.values, staged, gatherer)
    record = _run(run, found, staged, rows, live, spent, lines, _limited(problems), mark)
    record = replace(
        record,
        generations=dumps.counts(),
        traces=traced.tally.counts(),
        config_sources=config.sources,
    )
    return record, {column: name for name, column in stored.items()}


def _staged(inputs: Sequence[Input], spool: Spool, dumps: SampleFile, traced: TraceFile) -> list[Staged]:
    """All sources, and what their traces count to.

    Dumps come first: they say more of a sample than a table. Those whose tracker changes names come late: the
    others tell what the names were. Files of single traces come last: of a trace that a database has too,
    only that knows the step.
    """
    forms = [by_name(each.format) for each in inputs]
    found: dict[int, Staged] = {}
    for i in sorted(range(len(inputs)), key=lambda i: _turn(forms[i])):
        source = replace(inputs[i].source, notes=[])
        found[i] = stage(source, forms[i], inputs[i].sha or "", spool, dumps, traced)
    counted = derived(traces.NAME, traces.FORMAT, traced.tally.batches(), spool)
    return [*(found[i] for i in range(len(inputs))), *([counted] if len(counted.records.steps) else [])]


def _twice(inputs: Sequence[Input]) -> bool:
    """Whether several sources may hold the same samples: a tracker, and dumps or another tracker."""
    return any(each.format not in (generations.NAME, console.NAME, filelogger.NAME) for each in inputs)


def _turn(form: Format) -> int:
    if form is generations:
        return 0
    return 3 if form is mlflow_tracefiles else 1 + int(isinstance(form, Mangling))


def _write_rows(
    folder: Path, rows: Plan, gatherer: Gatherer, stored: dict[str, str]
) -> tuple[Summing, Spent]:
    live, spent = Summing(gatherer.names), Spent(gatherer.names)
    with parquet.RunFiles(folder, rows, gatherer.paths, gatherer.names, stored) as out:
        for group in gatherer.groups():
            out.write(group)
            span = slice(group.first, group.first + group.values.shape[1])
            alive = rows.live[span]
            live.add(group.values if alive.all() else group.values[:, alive], rows.step[span][alive])
            live.extras(group.extras, rows.live)
            spent.add(group.values)
    return live, spent


def _lines(staged: Sequence[Staged]) -> tuple[LogLine, ...]:
    return tuple(line for each in staged for line in sorted(each.log_lines, key=lambda line: line.line))


def _limited(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    distinct = list(dict.fromkeys(problems))
    if len(distinct) <= MAX_PROBLEMS:
        return tuple(distinct)
    rest = len(distinct) - MAX_PROBLEMS
    last = Problem(distinct[MAX_PROBLEMS].path, None, "too-many", f"{rest} more problems were left out")
    return (*distinct[:MAX_PROBLEMS], last)


def _run(
    run: RunPlan,
    found: facts.Known,
    staged: Sequence[Staged],
    rows: Plan,
    live: Summing,
    spent: Spent,
    lines: Sequence[LogLine],
    problems: tuple[Problem, ...],
    mark: str,
) -> Run:
    toml = found.toml
    started, ended = clock.span(staged, rows)
    steps = rows.step[rows.live]
    files_read = [each.file for each in staged if each.file.format != traces.FORMAT]
    finished = toml.finished if toml.finished is not None else any(map(clock.finished, staged))
    return Run(
        id=run.id,
        path=run.path,
        title=facts.title(found),
        project=facts.project(found),
        experiment=facts.experiment(found),
        algorithm=facts.algorithm(found),
        model=facts.model(found),
        verl_version=toml.text("verl_version") or found.facts.get("verl_version"),
        commit=toml.text("commit") or found.facts.get("commit"),
        hardware=facts.hardware(found),
        gpus=facts.gpus(found),
        started_at=started,
        ended_at=ended,
        wall_s=facts.wall_seconds(spent.totals, started, ended),
        steps=len(steps),
        first_step=int(steps.min()) if len(steps) else None,
        last_step=int(steps.max()) if len(steps) else None,
        planned_steps=facts.planned_steps(found),
        finished=finished,
        growing=toml.text("status") == "running",
        segments=rows.segments,
        sources=samples.folded(trusted(files_read)),
        formats=tuple(dict.fromkeys(each.format for each in files_read)),
        tags=toml.texts("tags"),
        owner=_shown(toml.text("owner")),
        baseline=toml.text("baseline"),
        notes=_shown(toml.text("notes")) or "",
        aliases=tuple(dict.fromkeys((*toml.texts("aliases"), *run.numbers))),
        config=found.config,
        summary=live.result(),
        problems=problems,
        fingerprint=mark,
        presets=toml.asked("presets"),
        mutes=tuple(_mute(one) for one in toml.mutes),
        toml=run.toml.path if run.toml else None,
        facts=found.facts,
    )


def _shown(text: str | None) -> str | None:
    return redact(text)[0] if text else text


def _mute(said: Mute) -> Mute:
    return replace(said, rule=redact(said.rule)[0], reason=redact(said.reason)[0])
