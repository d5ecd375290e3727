"""`report.md`: one run as Markdown that reads well on GitHub, in an editor and in a terminal.

Everything from a log is escaped: nothing in it becomes markup, HTML, a link or a mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from sitegen.charts.figures import Curve, Drawing, Mark
from sitegen.metrics import glossary
from sitegen.model import Fact, Incident, LogLine, Outcome, Run, Severity, Verdict
from sitegen.pages import advice, words
from sitegen.reports.shapes import MetricView, RunReport

TREND, EFFICIENCY = "trend", "efficiency"
_TREND_KEYS = (
    ("score", "rewards", "train_loss"),
    ("kl_ref", "ppo_kl", "val_loss"),
    ("pg_loss", "actor_loss"),
)
_EFFICIENCY_KEYS = (
    ("throughput",),
    ("mem_allocated_gb", "mem_reserved_gb"),
    ("cpu_mem_gb",),
)
_LONGEST_LINE = 400
_MOST_LINES = 6
_FOLD = 8  # more rows than this are folded away
_CODE = re.compile(r"`([^`]+)`")


def document(report: RunReport, figures: Mapping[str, str] | None = None) -> str:
    """The report as GitHub-flavoured Markdown.

    Args:
        report: the run.
        figures: kind ("trend", "efficiency") -> file name beside the Markdown; what is missing is left out.
    """
    shown = figures or {}
    parts = (
        _head(report),
        _picture(TREND, shown, "Reward, KL and actor loss over the steps"),
        _phases(report),
        _timeline(report),
        _incidents(report),
        _validation(report),
        _time(report),
        _efficiency(report, shown),
        _unchecked(report),
        _problems(report),
        _provenance(report),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def drawings(report: RunReport) -> dict[str, Drawing]:
    """Figures of the report that have something to show, by kind."""
    marks = tuple(
        Mark(one.first, one.rule, one.severity.word)
        for one in report.incidents
        if one.first is not None and one.severity >= Severity.WARNING
    )
    wanted = {TREND: _TREND_KEYS, EFFICIENCY: _EFFICIENCY_KEYS}
    found = {kind: tuple(_curves(report, keys)) for kind, keys in wanted.items()}
    return {
        kind: Drawing(report.run.title, report.run.id, curves, report.phases, marks)
        for kind, curves in found.items()
        if curves
    }


def escape(text: str) -> str:
    """`text` on one line with every sign that Markdown, HTML or GitHub could act on taken out of play."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    flat = re.sub(r"([\\`*{}\[\]|#~$!]|(?<!\w)_|_(?!\w))", r"\\\1", flat)  # a_b is no emphasis
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    flat = re.sub(r"(?i)(https?|ftp)(:)//", r"\1&#58;//", flat)  # GitHub links bare addresses
    return re.sub(r"(?i)\bwww\.", "www&#46;", flat)


def code(text: str) -> str:
    """`text` as inline code, whatever it holds."""
    flat = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", flat)), default=0))
    padded = f" {flat} " if flat.startswith("`") or flat.endswith("`") else flat
    return f"{fence}{padded}{fence}".replace("|", "\\|") if flat else ""


def _head(report: RunReport) -> str:
    verdict = f"> **{escape(report.headline)}.** {escape(report.sentence)}".rstrip()
    facts = "\n".join(f"| {name} | {value} |" for name, value in _facts(report))
    return f"# {escape(report.run.title)}\n\n{verdict}\n\n| | |\n|---|---|\n{facts}"


def _facts(report: RunReport) -> Iterator[tuple[str, str]]:
    run, row = report.run, report.row
    yield "Status", f"**{report.status.value}**, {report.state.value.replace('_', ' ').lower()}"
    if row.best:
        yield (
            "Best",
            f"{words.number(row.best.value)} ({escape(row.best.label)}) at step {words.count(row.best.step)}",
        )
    yield "Steps", _steps(run)
    if run.wall_s is not None:
        yield "Wall time", words.duration(run.wall_s)
    if run.hardware or run.gpus:
        spent = f", {words.hours(run.gpu_hours)} GPU-hours" if run.gpu_hours is not None else ""
        yield "Hardware", f"{escape(run.hardware or words.plural(run.gpus or 0, 'GPU'))}{spent}"
    if row.throughput is not None:
        yield "Throughput", f"{words.number(row.throughput)} tokens/s/GPU, net of validation and checkpoints"
    for name, value in (("Algorithm", run.algorithm), ("Model", run.model), ("verl", run.verl_version)):
        if value:
            yield name, escape(value)
    if run.commit:
        yield "Commit", code(run.commit)


def _steps(run: Run) -> str:
    planned = f" of {words.count(run.planned_steps)} planned" if run.planned_steps else ""
    if run.first_step is None:
        return f"none{planned}"
    span = f"{words.count(run.first_step)} to {words.count(run.last_step)}{planned}"
    segments = f", {words.plural(len(run.segments), 'segment')}" if len(run.segments) > 1 else ""
    return f"{words.count(run.steps)} ({span}{segments})"


def _picture(kind: str, figures: Mapping[str, str], alt: str) -> str:
    return f"![{alt}]({_target(figures[kind])})" if kind in figures else ""


def _target(name: str) -> str:
    return "".join(
        sign if sign.isalnum() or sign in "-_." else "".join(f"%{b:02X}" for b in sign.encode())
        for sign in name
    )


def _phases(report: RunReport) -> str:
    if not report.phases:
        return ""
    several = len({phase.segment for phase in report.phases}) > 1
    rows = [
        (
            *((str(phase.segment),) if several else ()),
            phase.phase.value.replace("_", " "),
            words.span(phase.first, phase.last),
        )
        for phase in report.phases
    ]
    return "## Phases\n\n" + _table((*(("segment",) if several else ()), "phase", "where"), rows)


def _timeline(report: RunReport) -> str:
    incidents = sorted(report.incidents, key=lambda one: (-1 if one.first is None else one.first, one.id))
    if not incidents:
        return "## What happened\n\nNo rule found anything to report."
    rows = [
        (
            words.span(one.first, one.last) + (", open" if one.open else ""),
            one.severity.word,
            f"[{one.rule}](#{one.anchor.lower()})" if one.severity > Severity.INFO else one.rule,
            escape(one.title),
            escape(one.message),
        )
        for one in incidents
    ]
    return "## What happened\n\n" + _table(("where", "severity", "rule", "what", "in numbers"), rows)


def _incidents(report: RunReport) -> str:
    serious = [one for one in report.incidents if one.severity > Severity.INFO]
    return "\n\n".join(_incident(one, report.run.config) for one in serious)


def _incident(incident: Incident, config: Mapping[str, str]) -> str:
    # GitHub makes an anchor of a heading's words: the heading is the anchor, the title follows.
    where = words.span(incident.first, incident.last)
    parts = [
        f"### {incident.anchor}",
        f"**{escape(incident.title)}** ({incident.severity.word}, {where}). {_closed(incident.message)}",
        _numbers(incident.evidence.facts),
        _bullets("Likely causes", incident.causes, config),
        _bullets("What to do", incident.advice, config),
        _log(incident.evidence.lines),
    ]
    return "\n\n".join(part for part in parts if part)


def _closed(text: str) -> str:
    return escape(text if text.endswith((".", "…", "?")) else f"{text}.")


def _numbers(facts: Sequence[Fact]) -> str:
    rows = [
        (
            escape(f"{fact.label} ({fact.unit})" if fact.unit else fact.label),
            words.number(fact.before),
            words.number(fact.after),
        )
        for fact in facts
    ]
    return _table(("", "before", "after"), rows, numbers=(1, 2)) if rows else ""


def _bullets(title: str, lines: Sequence[str], config: Mapping[str, str]) -> str:
    return f"{title}:\n\n" + "\n".join(f"- {advised(line, config)}" for line in lines) if lines else ""


def advised(line: str, config: Mapping[str, str]) -> str:
    """A line of a card, which is Markdown: code stays code, with the run's own value behind it."""
    found, place = [], 0
    for match in _CODE.finditer(line):
        found += [_prose(line[place : match.start()]), _with_value(match.group(1), config)]
        place = match.end()
    return "".join([*found, _prose(line[place:])])


def _prose(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def _with_value(key: str, config: Mapping[str, str]) -> str:
    value = advice.current(key, config)
    return code(key) if value is None else f"{code(key)} (now {code(words.clip(value, 60))})"


def _log(lines: Sequence[LogLine]) -> str:
    if not lines:
        return ""
    shown = [f"{line.path}:{line.line}: {_printable(line.text)}" for line in lines[:_MOST_LINES]]
    text = "\n".join(shown)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    rest = len(lines) - _MOST_LINES
    more = f"\n\n{words.plural(rest, 'more line')}." if rest > 0 else ""
    return f"{fence}text\n{text}\n{fence}{more}"


def _printable(text: str) -> str:
    lines = ("".join(sign if sign.isprintable() else " " for sign in row) for row in text.splitlines())
    return words.clip("\n".join(row for row in lines if row.strip()), _LONGEST_LINE)


def _validation(report: RunReport) -> str:
    scores = [view for view in report.validation if glossary().describe(view.name).better != "neither"]
    core = [view for view in scores if view.core] or scores
    rows = [
        (
            escape(view.dataset),
            code(view.name),
            words.number(view.first),
            f"**{words.number(view.best)}** (step {words.count(view.best_step)})",
            words.number(view.last),
        )
        for view in core
    ]
    if not rows:
        return ""
    rest = len(report.validation) - len(core)
    more = f"\n\n{words.plural(rest, 'more validation metric')} in the data." if rest else ""
    return (
        "## Validation\n\n"
        + _table(("data set", "metric", "first", "best", "last"), rows, numbers=(2, 3, 4))
        + more
    )


def _time(report: RunReport) -> str:
    rows = [
        (
            escape(part.name),
            words.duration(part.seconds) if part.seconds >= 60 else f"{words.number(part.seconds, 3)} s",
            f"{part.share * 100:.0f} %",
            "each step" if part.every == 1 else f"every {part.every} steps",
        )
        for part in report.timing
        if part.share >= 0.005
    ]
    return (
        "## Where the time goes\n\n" + _table(("part", "median", "share", "how often"), rows, (1, 2))
        if rows
        else ""
    )


def _efficiency(report: RunReport, figures: Mapping[str, str]) -> str:
    views = [
        view
        for keys in (("throughput",), ("mfu",), *_EFFICIENCY_KEYS[1:])
        for view in _views(report, keys)[:1]
    ]
    rows = [
        (
            escape(view.metric.title),
            escape(view.metric.unit),
            *(words.number(number) for number in _three(view)),
        )
        for view in views
    ]
    if not rows:
        return ""
    table = _table(("", "unit", "first", "median", "last"), rows, numbers=(2, 3, 4))
    picture = _picture(EFFICIENCY, figures, "Throughput and memory over the steps")
    return "\n\n".join(part for part in ("## Efficiency and memory", picture, table) if part)


def _unchecked(report: RunReport) -> str:
    blind = [verdict for verdict in report.verdicts if verdict.outcome == Outcome.NOT_APPLICABLE]
    if not blind:
        return ""
    rows = [
        (
            verdict.rule,
            escape(report.rules[verdict.rule].title) if verdict.rule in report.rules else "",
            escape(_why(verdict)),
        )
        for verdict in blind
    ]
    table = _table(("rule", "what it looks for", "why not"), rows)
    if len(rows) > _FOLD:
        named = words.plural(len(rows), "rule")
        table = f"<details><summary>{named} could not be checked</summary>\n\n{table}\n\n</details>"
    return f"## Not checked\n\n{table}"


def _why(verdict: Verdict) -> str:
    if not verdict.missing:
        return verdict.reason
    return f"not logged: {', '.join(_title(key) for key in verdict.missing)}"


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    return metric.title if metric else key.replace("_", " ")


def _problems(report: RunReport) -> str:
    rows = [
        (
            code(item.path),
            "" if item.line is None else words.count(item.line),
            escape(item.kind),
            escape(f"{item.message} {item.hint}"),
        )
        for item in report.problems
    ]
    return (
        "## What could not be read\n\n" + _table(("file", "line", "kind", "what"), rows, (1,)) if rows else ""
    )


def _provenance(report: RunReport) -> str:
    rows = [
        (code(source.path), escape(source.format), words.count(source.records), code(source.sha256[:12]))
        for source in report.run.sources
    ]
    return "## Read from\n\n" + _table(("file", "format", "records", "sha256"), rows, (2,)) if rows else ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    right = set(numbers)
    rule = "|".join("---:" if place in right else "---" for place in range(len(columns)))
    lines = [f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def _views(report: RunReport, keys: Sequence[str]) -> list[MetricView]:
    by_key = {view.series.metric: view for view in report.metrics}
    return [by_key[key] for key in keys if key in by_key and np.isfinite(by_key[key].series.values).any()]


def _curves(report: RunReport, wanted: Sequence[Sequence[str]]) -> Iterator[Curve]:
    for keys in wanted:
        for view in _views(report, keys)[:1]:
            steps, values = _live(view)
            yield Curve(view.metric.title, view.metric.unit, view.metric.group, steps, values)


def _live(view: MetricView) -> tuple[np.ndarray, np.ndarray]:
    series = view.series
    there = series.live & np.isfinite(series.values)
    order = np.argsort(series.steps[there], kind="stable")
    return series.steps[there][order], series.values[there][order]


def _three(view: MetricView) -> tuple[float, float, float]:
    _, values = _live(view)
    return (float(values[0]), float(np.median(values)), float(values[-1])) if len(values) else (np.nan,) * 3
