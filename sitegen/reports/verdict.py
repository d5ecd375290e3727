"""The verdict: a headline and a sentence built from facts.

"Suspected" where metrics cannot prove a cause; what could not be checked is said, never counted as health.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sitegen.model import Incident, PhaseName, Severity, Status
from sitegen.reports import crash, movement, outcome
from sitegen.reports.case import Case
from sitegen.reports.status import ending
from sitegen.reports.story import Story, tell
from sitegen.reports.words import clipped, count, listed, lowered, opened, plural

_HACKING = "REW-03"
_DEADLY = ("RUN-", "MEM-", "LEN-01", "GRD-04")  # what can end a process
_STEP = re.compile(r"step(?:_| to )(\d+)")
_ASIDE = re.compile(r"\s*\([^()]*\)$")  # "No learning (never leaves exploration)"


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
    came_to = (outcome.validation_loss(case), outcome.best(case), outcome.after_onset(case))
    rest = (_remarks(case, story), _muted(case), outcome.unchecked(case))
    return " ".join(part for part in (*told, *came_to, *rest) if part)


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
    title = _title(incident)
    if incident.first is None:
        return f"{title} before the first step"
    if incident.first == incident.last:
        return f"{title} at step {count(incident.first)}"
    return f"{title} from step {count(incident.first)}"


def _title(incident: Incident) -> str:
    """The title as a statement: a signature is a suspicion."""
    title = _plain(incident)
    return f"{title[: -len(' signature')]} suspected" if title.lower().endswith(" signature") else title


def _plain(incident: Incident) -> str:
    """The title without what it adds in brackets."""
    return _ASIDE.sub("", incident.title.strip())


def _told(case: Case, story: Story) -> tuple[str, ...]:
    if case.status == Status.CRASHED and _ended(story.main):
        moved = crash.quote(ending(case.run, case.findings.incidents) or story.main, case.log_lines)
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
    # validation shows, it does not cause; and no metric fills a disk or kills a process, but those of memory
    causes = not root.rule.startswith("VAL-") and (not _ended(story.main) or root.rule.startswith(_DEADLY))
    cause = " (suspected root)" if causes else ""
    return f"First sign at step {count(root.first)}: {lowered(_plain(root))}{cause}."


def _along(story: Story) -> str:
    rest = [one for one in story.along if one is not story.root or one.first == story.main.first]
    titles = list(dict.fromkeys(lowered(_plain(one)) for one in rest))
    titles = [title for title in titles if title != lowered(_plain(story.main))]
    return f"With it: {listed(titles[:3])}." if titles else ""


def _others(story: Story) -> str:
    if not story.others:
        return ""
    # what the run may have learned to cheat at is worth more than what came first
    first = next((one for one in story.others if one.rule == _HACKING), story.others[0])
    rest = f", and {count(len(story.others) - 1)} more" if len(story.others) > 1 else ""
    where = " before the first step" if first.first is None else f" at step {count(first.first)}"
    return f"Also {lowered(_title(first))}{'' if _ended(first) else where}{rest}."


def _remarks(case: Case, story: Story | None) -> str:
    remarks = [one for one in case.findings.incidents if one.severity == Severity.INFO]
    if case.status == Status.HEALTHY:
        return f"Nothing to act on{_with_remarks(remarks)}."
    return f"{opened(plural(len(remarks), 'remark'))}." if remarks and story is None else ""


def _muted(case: Case) -> str:
    """`2 findings are muted by run.toml (KL-05, LEN-02).`, so that nobody takes the run for clean."""
    muted = case.findings.muted
    codes = ", ".join(dict.fromkeys(one.incident.rule for one in muted))
    return f"{plural(len(muted), 'finding is', 'findings are')} muted by run.toml ({codes})." if muted else ""


def _with_remarks(remarks: Sequence[Incident]) -> str:
    return f"; {plural(len(remarks), 'remark')}" if remarks else ""


def _closed(text: str) -> str:
    return text if not text or text.endswith((".", "…")) else f"{text}."
