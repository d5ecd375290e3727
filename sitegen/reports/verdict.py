"""The verdict: a headline and a sentence built from facts.

"Suspected" where metrics cannot prove a cause; what could not be checked is said, never counted as health.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sitegen.metrics import glossary
from sitegen.model import Findings, Incident, LogLine, Outcome, PhaseName, Run, Severity, Status
from sitegen.reports import crash, movement, timing
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import Best, ValidationView
from sitegen.reports.status import ending
from sitegen.reports.story import Story, first_serious, tell
from sitegen.reports.validation import headline_view
from sitegen.reports.words import THIN, clipped, count, hours, listed, lowered, number, opened, plural

_STEP = re.compile(r"step(?:_| to )(\d+)")
_ASIDE = re.compile(r"\s*\([^()]*\)$")  # "No learning (never leaves exploration)"


@dataclass(frozen=True, slots=True)
class Case:
    """What a verdict is built from."""

    run: Run
    findings: Findings
    status: Status
    curves: Curves
    validation: tuple[ValidationView, ...]
    best: Best | None
    log_lines: tuple[LogLine, ...]


def headline(case: Case) -> str:
    """The bold part, without a full stop."""
    story = _story(case)
    if case.status == Status.CRASHED:
        return _crashed(case)
    if case.status == Status.UNFINISHED:
        return _unfinished(case)
    return _healthy(case) if story is None else _named(story.main)


def sentence(case: Case) -> str:
    """The rest: what moved, what came with it, best checkpoint, hours after onset, what was not checked."""
    story = _story(case)
    told = () if story is None else _told(case, story)
    outcome = (_validation_loss(case), _best(case), _after_onset(case))
    rest = (_remarks(case, story), _unchecked(case))
    return " ".join(part for part in (*told, *outcome, *rest) if part)


def _story(case: Case) -> Story | None:
    """The story of the run; where the headline says that it stopped, no incident says it again."""
    told = case.findings.incidents
    if case.status == Status.UNFINISHED:
        told = tuple(incident for incident in told if not _ended(incident))
    return tell(told)


def _crashed(case: Case) -> str:
    incident = ending(case.run, case.findings.incidents)
    step = case.run.last_step
    when = "before the first step" if step is None else f"after step {count(step)}"
    cause = crash.cause(incident, case.log_lines) if incident else ""
    return f"Crashed {when}: {cause}" if cause else f"Crashed {when}"


def _unfinished(case: Case) -> str:
    run = case.run
    if run.last_step is None:
        return (
            "Still running, no step logged yet"
            if run.growing
            else f"No training step was logged{_resumed(case)}"
        )
    of = f" of {count(run.planned_steps)}" if run.planned_steps else ""
    if run.growing:
        return f"Still running: as of step {count(run.last_step)}{of}"
    return f"Stopped at step {count(run.last_step)}{of} without a word"


def _resumed(case: Case) -> str:
    """`: resumed at step 105 of 105`, where a checkpoint left nothing to train."""
    texts = [line.text for line in case.log_lines if line.kind in ("resumed", "checkpoint_found")]
    steps = [int(step) for text in texts for step in _STEP.findall(text)]
    planned = case.run.planned_steps
    if not steps or planned is None:
        return ""
    return f": resumed at step {count(steps[-1])} of {count(planned)}"


def _healthy(case: Case) -> str:
    phases = case.findings.phases
    last = phases[-1] if phases else None
    end = "" if case.run.last_step is None else f" at step {count(case.run.last_step)}"
    if last is None or case.run.steps < 5:
        return f"Nothing found in {plural(case.run.steps, 'step')}"
    if last.phase == PhaseName.CONVERGED:
        return f"Healthy: converged at step {count(last.first)}"
    if last.phase == PhaseName.PLATEAU:
        return f"Healthy: on a plateau since step {count(last.first)}"
    if last.phase in (PhaseName.WARMUP, PhaseName.CRITIC_WARMUP):
        return f"Nothing found; still warming up{end}"
    if last.phase == PhaseName.CLIMB:
        return f"Healthy: still improving{end}"
    if last.phase == PhaseName.DECLINE:
        return f"Nothing to act on, but past its peak since step {count(last.first)}"
    return f"Healthy: still learning{end}"


def _named(incident: Incident) -> str:
    """`Reward hacking suspected from step 413`."""
    title = _plain(incident)
    if title.lower().endswith(" signature"):
        title = f"{title[: -len(' signature')]} suspected"
    if incident.first is None:
        return f"{title} before the first step"
    if incident.first == incident.last:
        return f"{title} at step {count(incident.first)}"
    return f"{title} from step {count(incident.first)}"


def _plain(incident: Incident) -> str:
    """The title without what it adds in brackets."""
    return _ASIDE.sub("", incident.title.strip())


def _told(case: Case, story: Story) -> tuple[str, ...]:
    if case.status == Status.CRASHED and _ended(story.main):
        moved = crash.quote(story.main, case.log_lines)
    else:
        moved = _moved(story.main)
    prefix = f"{_named(story.main)}." if case.status == Status.UNFINISHED else ""
    return prefix, moved, _root(story), _along(story), _others(story)


def _ended(incident: Incident) -> bool:
    """Whether the incident is about the process, not about training."""
    return incident.rule.startswith("RUN-")


def _moved(incident: Incident) -> str:
    moved = movement.sentence(incident.evidence.facts, incident.metric)
    return moved or _closed(clipped(incident.message, 240))


def _root(story: Story) -> str:
    root = story.root
    if root is story.main or root.first is None or root.first == story.main.first:
        return ""
    cause = "" if root.rule.startswith("VAL-") else " (suspected root)"  # validation shows, it does not cause
    return f"First sign at step {count(root.first)}: {lowered(_plain(root))}{cause}."


def _along(story: Story) -> str:
    rest = [one for one in story.along if one is not story.root or one.first == story.main.first]
    titles = list(dict.fromkeys(lowered(_plain(one)) for one in rest))
    titles = [title for title in titles if title != lowered(_plain(story.main))]
    return f"With it: {listed(titles[:3])}." if titles else ""


def _others(story: Story) -> str:
    if not story.others:
        return ""
    first = story.others[0]
    rest = f", and {count(len(story.others) - 1)} more" if len(story.others) > 1 else ""
    where = " before the first step" if first.first is None else f" at step {count(first.first)}"
    return f"Also {lowered(_plain(first))}{'' if _ended(first) else where}{rest}."


def _validation_loss(case: Case) -> str:
    """`Validation on gsm8k fell from 0.84 to 0.61`, where it ended well below its best."""
    view = headline_view(case.validation)
    if case.status == Status.HEALTHY:  # no rule took it for more than noise
        return ""
    if view is None or glossary().describe(view.name).better == "down":
        return ""
    _, values = case.curves.points(view.series)
    floor = max(0.1 * abs(view.best), 2.0 * _noise(values))
    if len(values) < 3 or view.best - view.last <= floor:
        return ""
    return f"Validation on {view.dataset} fell from {number(view.best)} to {number(view.last)}."


def _noise(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Standard deviation of one evaluation, from second differences, which no trend moves; 0 for few."""
    return float(np.median(np.abs(np.diff(values, 2))) * 1.4826 / np.sqrt(6)) if len(values) > 6 else 0.0


def _best(case: Case) -> str:
    best = case.best
    if best is None:
        return ""
    what = _best_value(best)
    saved = _checkpoints(case)
    if best.step in saved:
        return f"{what}; best checkpoint: step {count(best.step)}."
    onset = first_serious(case.findings.incidents)
    before = [step for step in saved if onset is None or onset.first is None or step < onset.first]
    if onset is not None and before:
        last = count(before[-1])
        return f"{what} at step {count(best.step)}; last checkpoint before the onset: step {last}."
    return f"{what} at step {count(best.step)}{_end(case)}."


def _end(case: Case) -> str:
    """`, 0.61 at the end`, for a healthy run whose last validation is not its best."""
    view = headline_view(case.validation)
    if case.status != Status.HEALTHY or view is None or view.last == view.best:
        return ""
    return f", {number(view.last)} at the end"


def _best_value(best: Best) -> str:
    if not best.validation:
        return f"Best {best.label.split(',', 1)[0]} {number(best.value)}"
    if glossary().describe(best.name).better == "down":
        return f"Lowest validation loss {number(best.value)}"
    return f"Best validation {number(best.value)} on {best.label}"


def _checkpoints(case: Case) -> list[int]:
    """Steps at which a checkpoint was saved, as the log says or as its time was logged."""
    timed = case.curves.steps[np.nan_to_num(case.curves.values("time_save_checkpoint")) > 0]
    said = [line.step for line in case.log_lines if line.kind == "checkpoint_saved" and line.step is not None]
    return sorted({*(int(step) for step in timed), *said})


def _after_onset(case: Case) -> str:
    onset = first_serious(case.findings.incidents)
    if onset is None:
        return ""
    spent = timing.seconds_from(case.curves, onset.first)
    if spent is None or spent < 360:
        return ""
    if case.run.gpus is not None:
        return f"{hours(spent * case.run.gpus / 3600)} GPU-hours ran after onset."
    return f"{hours(spent / 3600)}{THIN}h ran after onset."


def _remarks(case: Case, story: Story | None) -> str:
    remarks = [one for one in case.findings.incidents if one.severity == Severity.INFO]
    if case.status == Status.HEALTHY:
        return f"Nothing to act on{_with_remarks(remarks)}."
    return f"{opened(plural(len(remarks), 'remark'))}." if remarks and story is None else ""


def _with_remarks(remarks: Sequence[Incident]) -> str:
    return f"; {plural(len(remarks), 'remark')}" if remarks else ""


def _unchecked(case: Case) -> str:
    verdicts = case.findings.verdicts
    blind = [verdict for verdict in verdicts if verdict.outcome == Outcome.NOT_APPLICABLE]
    if not blind:
        return ""
    wanted = Counter(key for verdict in blind for key in verdict.missing)
    ranked = sorted(wanted.items(), key=lambda item: (-item[1], item[0]))
    titles = list(dict.fromkeys(_title(key) for key, _ in ranked))
    shown = titles if len(titles) <= 3 else [*titles[:3], "more"]
    why = f" (not logged: {listed(shown)})" if shown else ""
    return f"{count(len(blind))} of {plural(len(verdicts), 'rule')} could not be checked{why}."


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    if metric is None:
        return "validation" if key == "evals" else key.replace("_", " ")
    return lowered(metric.title.split(",", 1)[0])


def _closed(text: str) -> str:
    return text if not text or text.endswith((".", "…")) else f"{text}."
