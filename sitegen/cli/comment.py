"""`sitegen check --format markdown`: the comment for a pull request.

The verdict of each run, its numbers beside those of its baseline, what was found and what to do, with links
into the published site where its address is known. Nothing that came from a log is markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.cli.findings import where
from sitegen.cli.whereabouts import Checked
from sitegen.metrics import glossary
from sitegen.model import Incident, Run
from sitegen.pages import words
from sitegen.pages.gfm import code, escape, table
from sitegen.pages.notes import changed
from sitegen.pages.report_incidents import advised
from sitegen.reports import compare
from sitegen.reports.shapes import RunReport

LARGEST = 60_000  # characters; GitHub refuses comments of more than 65 536
_ROWS = 40  # findings, and settings, in a table
_LAST = (
    "score",
    "kl_ref",
    "entropy",
    "response_length",
    "grad_norm",
)  # metrics whose last values are compared


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a run is held against: `report` None = no run of the name `asked`."""

    asked: str
    report: RunReport | None


def document(found: Sequence[Checked], baselines: Mapping[str, Baseline], site_url: str = "") -> bytes:
    """The comment. `baselines` maps run ids; `site_url` ends with "/" or is ""."""
    parts = [f"## {_counted(found)}", _verdicts(found, site_url)]
    for each in found:
        base = baselines.get(each.report.run.id)
        if base is not None:
            parts.append(_compared(each.report, base))
    parts += [_findings(found, site_url), _muted(found)]
    text = "\n\n".join(part for part in parts if part) + "\n"
    if len(text) > LARGEST:
        text = _cut(text) + "\n\nThe rest does not fit into a comment; `sitegen check` says all of it.\n"
    return text.encode()


def _cut(text: str) -> str:
    """As many whole lines as fit, with every fold closed."""
    kept = text[:LARGEST].rpartition("\n")[0]
    return kept + "\n\n</details>" * (kept.count("<details>") - kept.count("</details>"))


def _counted(found: Sequence[Checked]) -> str:
    counts = Counter(str(each.report.status) for each in found)
    said = [f"{counts[status]} {status}" for status in words.STATUSES if counts[status]]
    return f"{words.plural(len(found), 'run')} checked: {', '.join(said) or 'none'}"


def _verdicts(found: Sequence[Checked], site_url: str) -> str:
    rows = []
    for each in found:
        report = each.report
        name = _link(report.run.id, f"runs/{each.site_id}/", site_url)
        verdict = f"**{escape(report.headline)}.** {escape(report.sentence)}".rstrip()
        rows.append((name, f"**{report.status.value}**", verdict, words.count(report.run.steps)))
    return table(("run", "status", "verdict", "steps"), rows, (3,))


def _link(text: str, path: str, site_url: str) -> str:
    return f"[{escape(text)}]({site_url}{path})" if site_url else escape(text)


def _compared(report: RunReport, base: Baseline) -> str:
    title = f"### {escape(report.run.id)} against its baseline"
    if base.report is None:
        return (
            f"{title}\n\nThere is no run {code(base.asked)} to compare with: name another with `--baseline`."
        )
    other = base.report
    rows = [
        (name, here, there, change) for name, here, there, change in _numbers(report, other) if here or there
    ]
    numbers = table(("", "this run", escape(other.run.id), "change"), rows, (1, 2, 3))
    return "\n\n".join((title, numbers, *_set_up(report.run, other.run)))


def _numbers(report: RunReport, other: RunReport) -> Iterator[tuple[str, str, str, str]]:
    """(name, here, there, change) as text; "" = not known."""
    here, there = report.row, other.row
    yield "status", str(report.status), str(other.status), ""
    best = (here.best.value if here.best else None, there.best.value if there.best else None)
    same = here.best is None or there.best is None or here.best.label == there.best.label
    label = "best" if here.best is None else f"best {escape(here.best.label)}"
    yield _row(label, *best) if same else (label, _text(best[0]), _text(best[1]), "of another data set")
    for key in _LAST:
        yield _row(_title(key), _last(report.run, key), _last(other.run, key))
    yield _row("steps", report.run.steps, other.run.steps)
    yield _row("GPU-hours", here.gpu_hours, there.gpu_hours)
    yield _row("tokens/s/GPU", here.throughput, there.throughput)
    for word in ("critical", "error", "warning"):
        yield _row(f"incidents: {word}", here.counts.get(word, 0), there.counts.get(word, 0))


def _row(name: str, here: float | None, there: float | None) -> tuple[str, str, str, str]:
    change = ""
    if here is not None and there is not None and here != there:
        share = f" ({(here - there) / abs(there):+.0%})".replace("%", " %").replace("-", "−") if there else ""
        change = f"{'+' if here > there else '−'}{words.number(abs(here - there))}{share}"
    return name, _text(here), _text(there), change


def _text(value: float | None) -> str:
    return "" if value is None else words.number(value)


def _last(run: Run, key: str) -> float | None:
    return next((one.last for one in run.summary if one.metric == key), None)


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    return f"last {metric.title if metric else key}"


def _set_up(run: Run, other: Run) -> Iterator[str]:
    """What was set differently, folded where there is much of it."""
    for made in compare.compared(run, {"baseline": other}):
        rows = [(code(row.key), code(row.here or ""), code(row.there or "")) for row in changed(made)]
        if not rows:
            yield "No setting that both of them log differs."
            continue
        shown = table(("setting", "this run", "baseline"), rows[:_ROWS])
        more = f"\n\n{words.plural(len(rows) - _ROWS, 'more setting')}." if len(rows) > _ROWS else ""
        told = f"{words.plural(len(rows), 'setting')} differ{'s' if len(rows) == 1 else ''}"
        yield f"<details><summary>{told}</summary>\n\n{shown}{more}\n\n</details>"


def _findings(found: Sequence[Checked], site_url: str) -> str:
    """Every finding, the worst first; remarks are counted."""
    pairs = [(each, one) for each in found for one in each.report.incidents]
    pairs.sort(key=lambda pair: -pair[1].severity)  # stable: runs and incidents stay in their order
    remarks = sum(one.severity.word == "info" for _, one in pairs)
    rows = [_finding(each, one, site_url) for each, one in pairs if one.severity.word != "info"]
    shown = table(("severity", "rule", "run", "where", "finding", "what to do"), rows[:_ROWS]) if rows else ""
    more = [words.plural(len(rows) - _ROWS, "more finding")] if len(rows) > _ROWS else []
    more += [words.severity("info", remarks)] if remarks else []
    return "\n\n".join(part for part in (shown, f"And {', '.join(more)}." if more else "") if part)


def _finding(each: Checked, one: Incident, site_url: str) -> tuple[str, ...]:
    explained = any(note.anchor == one.anchor for note in each.report.notes)
    return (
        one.severity.word,
        _link(one.rule, f"runs/{each.site_id}/#{one.anchor}", site_url),
        escape(each.report.run.id),
        escape(where(one)),
        escape(one.message) + (" (explained)" if explained else ""),
        advised(one.advice[0], each.report.run.config) if one.advice else "",
    )


def _muted(found: Sequence[Checked]) -> str:
    rows = [
        (
            one.incident.rule,
            escape(each.report.run.id),
            escape(where(one.incident)),
            escape(one.incident.message),
            escape(one.reason),
        )
        for each in found
        for one in each.report.muted
    ]
    return table(("muted", "run", "where", "finding", "why it does not count"), rows) if rows else ""
