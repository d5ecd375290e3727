"""Where what was found lies: on a line of a file of the repository, and on the published site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import yaml

from sitegen.archive import Archive, ids
from sitegen.model import Incident, Run
from sitegen.reports.shapes import RunReport

_KEY = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_LARGEST = 256 << 10  # bytes of a YAML file that is looked into
_TEXTS = ("console", "filelogger", "seed-metrics", "seed-debug", "csv")  # formats whose lines people count


@dataclass(frozen=True, slots=True)
class Checked:
    """A run that was checked, and where its files are.

    Args:
        report: the run.
        folder: what the paths of its sources are relative to.
        runs: the folder of runs of the site, which need not hold `folder`.
        onsets: step -> (source, line) of the record that was logged there, for the onsets of its incidents.
    """

    report: RunReport
    folder: Path
    runs: Path
    onsets: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    @property
    def site_id(self) -> str:
        """The id that the run has on the site, as far as its place tells."""
        folder, runs = self.folder.resolve(), self.runs.resolve()
        if folder == runs or not folder.is_relative_to(runs):
            return self.report.run.id
        inside = folder.relative_to(runs).as_posix()
        run = self.report.run
        return ids.slug(f"{inside}/{run.path}" if in_a_folder(run) else inside)


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of a file, as a path that a code-review tool can follow; line 1 where there is no better one."""

    uri: str
    line: int


def in_a_folder(run: Run) -> bool:
    """Whether a run lies in a folder of its own below the folder that was read."""
    return "/" in run.path or any(each.path.startswith(f"{run.path}/") for each in run.sources)


def onsets(archive: Archive, report: RunReport) -> dict[int, tuple[str, int]]:
    """Step -> (source, line) of the live record at the onset of each incident."""
    wanted = {one.first for one in _all(report) if one.first is not None}
    if not wanted:
        return {}
    with pq.ParquetFile(archive.steps(report.run.id)) as file:
        table = file.read(["step", "line", "source", "live"], use_threads=False)
    rows = zip(*(table.column(at).to_pylist() for at in range(4)), strict=True)
    return {step: (source, line) for step, line, source, live in rows if live and step in wanted}


def of_incident(found: Checked, incident: Incident) -> Spot:
    """The log line that the incident rests on, else the record of its onset, else the first source."""
    sources = {each.path: each.format for each in found.report.run.sources}
    for logged in incident.evidence.lines:
        return spot(found, logged.path, logged.line)
    told, line = found.onsets.get(-1 if incident.first is None else incident.first, ("", 1))
    path = _first(told, sources)
    if path:
        return spot(found, path, line if sources[path] in _TEXTS else 1)
    return spot(found, next(iter(sources), found.report.run.path), 1)


def _first(told: str, sources: Iterable[str]) -> str:
    """Of the sources of a row, joined by ", ", the one whose line it has; "" where it is unknown."""
    return max((one for one in sources if told == one or told.startswith(f"{one}, ")), key=len, default="")


def of_setting(found: Checked, incident: Incident) -> Spot | None:
    """The line of the run's YAML that sets what the advice speaks of first.

    Where Hydra kept what somebody typed, that line rather than the one of the whole configuration.
    """
    keys = [key for text in incident.advice for key in _KEY.findall(text)]
    for path in _yaml(found.report.run) if keys else ():
        lines = dict(_settings(found.folder / path))
        for key in keys:
            line = lines.get(key)
            if line is not None:
                return spot(found, path, line)
    return None


def _yaml(run: Run) -> Iterator[str]:
    for each in run.config_sources:
        if not each.path.endswith((".yaml", ".yml")):
            continue
        if each.path.endswith(".hydra/config.yaml"):
            yield each.path.replace("config.yaml", "overrides.yaml")
        yield each.path


def spot(found: Checked, path: str, line: int) -> Spot:
    """`path`, relative to the run's folder, as a path below the repository, or below this folder."""
    base = found.folder.absolute()
    whole = file = _named(base, path)
    while not file.exists() and file != base:  # inside a packed folder, or a part of a database
        name, mark, _ = file.name.partition("#")
        file = file.with_name(name) if mark and file.with_name(name).exists() else file.parent
    file = whole if file == base else file
    root = _root(base)
    place = file.relative_to(root) if file.is_relative_to(root) else Path(path)
    return Spot(quote(place.as_posix()), max(1, line))


def _named(base: Path, path: str) -> Path:
    """`path` below `base` with the signs in its names for which the archive keeps U+FFFD."""
    file = base
    for part in Path(path).parts:
        whole = file / part
        if "\ufffd" in part and file.is_dir() and not whole.exists():
            alike = (one for one in sorted(file.iterdir()) if _stands_for(part, one.name))
            whole = next(alike, whole)
        file = whole
    return file


def _stands_for(kept: str, name: str) -> bool:
    return len(kept) == len(name) and all(a in (b, "\ufffd") for a, b in zip(kept, name, strict=True))


def _root(folder: Path) -> Path:
    """The repository around `folder`, else this folder where it lies around, else `folder` itself."""
    for each in (folder, *folder.parents):
        if (each / ".git").exists():
            return each
    return Path.cwd() if folder.is_relative_to(Path.cwd()) else folder


def _settings(file: Path) -> Iterator[tuple[str, int]]:
    """(dotted key, line) of every setting of a YAML file; nothing where it cannot be read."""
    try:
        if file.is_symlink() or file.stat().st_size > _LARGEST:
            return
        root = yaml.compose(file.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return
    if isinstance(root, yaml.SequenceNode):
        yield from _typed(root)
    yield from _keys(root, "", 0)


def _typed(node: yaml.SequenceNode) -> Iterator[tuple[str, int]]:
    """(key, line) of overrides as Hydra lists them: `- ++trainer.seed=3`."""
    for each in node.value:
        if isinstance(each, yaml.ScalarNode) and "=" in each.value:
            yield each.value.split("=", 1)[0].strip("+~ "), each.start_mark.line + 1


def _keys(node: yaml.Node | None, above: str, depth: int) -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode) or depth > 12:
        return
    for name, value in node.value:
        if isinstance(name, yaml.ScalarNode):
            key = f"{above}{name.value}"
            yield key, name.start_mark.line + 1
            yield from _keys(value, f"{key}.", depth + 1)


def _all(report: RunReport) -> Iterator[Incident]:
    yield from report.incidents
    yield from (muted.incident for muted in report.muted)
