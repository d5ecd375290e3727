"""The verdict: a headline and a sentence built from facts.

"Suspected" where metrics cannot prove a cause; what could not be checked is said, never counted as health.
"""

from __future__ import annotations

import re

from sitegen.language import t
from sitegen.model import Incident, PhaseName, Severity, Status
from sitegen.reports import crash, movement, outcome
from sitegen.reports.case import Case
from sitegen.reports.status import ending
from sitegen.reports.story import Story, tell
from sitegen.reports.words import clipped, count, joined, listed, lowered, opened, plural

_LEAST = 5  # steps with which the first rules can judge
_HACKING = "REW-03"
_DEADLY = ("RUN-", "MEM-", "LEN-01", "GRD-04")  # what can end a process
_STEP = re.compile(r"step(?:_| to )(\d+)")
_ASIDE = re.compile(r"\s*(\([^()]*\)|（[^（）]*）)$")  # "No learning (never leaves exploration)"


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
    return joined((*told, *came_to, *rest))


def gist(case: Case) -> str:
    """The beginning of `sentence` that tells the main event: what moved, and its first sign."""
    story = _story(case)
    return "" if story is None else joined(_told(case, story)[:3])


def leads(case: Case) -> tuple[Incident | None, Incident | None]:
    """The incident that the headline names, and the one suspected to have begun it; None where none is."""
    story = _story(case)
    if case.status == Status.CRASHED:
        ended = ending(case.run, case.findings.incidents)
        main = ended or (story.main if story else None)
        return main, _suspected(story) if story is not None and story.main is main else None
    return (None, None) if story is None else (story.main, _suspected(story))


def _story(case: Case) -> Story | None:
    """The story of the run; where the headline says that it stopped, no incident says it again."""
    told = case.findings.incidents
    if case.status == Status.UNFINISHED:
        told = tuple(incident for incident in told if not _ended(incident))
    return tell(told)


def _crashed(case: Case) -> str:
    incident = ending(case.run, case.findings.incidents)
    step = case.run.last_step
    when = t("before the first step") if step is None else t("after step {step}", step=count(step))
    cause = crash.cause(incident, case.log_lines) if incident else ""
    return t("Crashed {when}: {cause}", when=when, cause=cause) if cause else t("Crashed {when}", when=when)


def _unfinished(case: Case) -> str:
    run = case.run
    words = crash.last_words(case.log_lines, run.last_step)
    if run.last_step is None and run.growing:
        return t("Still running, no step logged yet")
    if run.last_step is None:
        return _stopped(_resumed(case), words)
    at, of = count(run.last_step), count(run.planned_steps or 0)
    if run.growing and run.planned_steps:
        return t("Still running: as of step {step} of {planned}", step=at, planned=of)
    if run.growing:
        return t("Still running: as of step {step}", step=at)
    if words and run.planned_steps:
        return _stopped(t("Stopped at step {step} of {planned}", step=at, planned=of), words)
    if words:
        return _stopped(t("Stopped at step {step}", step=at), words)
    if run.planned_steps:
        return t("Stopped at step {step} of {planned} without a word", step=at, planned=of)
    return t("Stopped at step {step} without a word", step=at)


def _stopped(where: str, words: str) -> str:
    """`where` and what the log says last."""
    return t("{stopped}; {words}", stopped=where, words=words) if words else where


def _resumed(case: Case) -> str:
    """Why no step was logged: `resumed at step 105 of 105`, where a checkpoint left nothing to train."""
    texts = [line.text for line in case.log_lines if line.kind in ("resumed", "checkpoint_found")]
    steps = [int(step) for text in texts for step in _STEP.findall(text)]
    planned = case.run.planned_steps
    if not steps or planned is None:
        return t("No training step was logged")
    at = count(steps[-1])
    return t(
        "No training step was logged: resumed at step {step} of {planned}", step=at, planned=count(planned)
    )


def _healthy(case: Case) -> str:
    phases = case.findings.phases
    last = phases[-1] if phases else None
    if _too_short(case):
        return t("Too short to judge: {steps}", steps=plural(case.run.steps, "step"))
    if last is None:
        return t("Nothing found in {steps}", steps=plural(case.run.steps, "step"))
    since, end = count(last.first), count(case.run.last_step or last.last)
    if last.phase == PhaseName.CONVERGED:
        return t("Healthy: converged at step {step}", step=since)
    if last.phase == PhaseName.PLATEAU:
        return t("Healthy: on a plateau since step {step}", step=since)
    if last.phase in (PhaseName.WARMUP, PhaseName.CRITIC_WARMUP):
        return t("Nothing found; still warming up at step {step}", step=end)
    if last.phase == PhaseName.CLIMB:
        return t("Healthy: still improving at step {step}", step=end)
    if last.phase == PhaseName.DECLINE:
        return t("Nothing to act on, but past its peak since step {step}", step=since)
    return t("Healthy: still learning at step {step}", step=end)


def _too_short(case: Case) -> bool:
    """Whether hardly a rule had enough steps: that none fired says nothing then."""
    return case.run.steps < _LEAST


def _named(incident: Incident) -> str:
    """`Reward hacking suspected from step 413`."""
    title = _title(incident)
    if incident.first is None:
        return t("{title} before the first step", title=title)
    if incident.first == incident.last:
        return t("{title} at step {step}", title=title, step=count(incident.first))
    return t("{title} from step {step}", title=title, step=count(incident.first))


def _title(incident: Incident) -> str:
    """The title as a statement: a signature is a suspicion."""
    title = _plain(incident)
    signed = title.removesuffix(t(" signature"))
    return title if signed == title else t("{title} suspected", title=signed.rstrip())


def _plain(incident: Incident) -> str:
    """The title without what it adds in brackets."""
    return _ASIDE.sub("", incident.title.strip())


def _told(case: Case, story: Story) -> tuple[str, ...]:
    if case.status == Status.CRASHED and _ended(story.main):
        moved = crash.quote(ending(case.run, case.findings.incidents) or story.main, case.log_lines)
    else:
        moved = _moved(story.main)
    prefix = _closed(_named(story.main)) if case.status == Status.UNFINISHED else ""
    return prefix, moved, _root(story), _along(story), _others(story)


def _ended(incident: Incident) -> bool:
    """Whether the incident is about the process, not about training."""
    return incident.rule.startswith("RUN-")


def _moved(incident: Incident) -> str:
    moved = movement.sentence(incident.evidence.facts, incident.metric)
    return moved or _closed(clipped(incident.message, 240))


def _sign(story: Story) -> Incident | None:
    """What came before the main incident."""
    root = story.root
    return None if root is story.main or root.first in (None, story.main.first) else root


def _suspected(story: Story) -> Incident | None:
    """What came before the main incident and may have caused it."""
    root = _sign(story)
    if root is None:
        return None
    # validation shows, it does not cause; and no metric fills a disk or kills a process, but those of memory
    causes = not root.rule.startswith("VAL-") and (not _ended(story.main) or root.rule.startswith(_DEADLY))
    return root if causes else None


def _root(story: Story) -> str:
    root = _sign(story)
    if root is None or root.first is None:
        return ""
    step, title = count(root.first), lowered(_plain(root))
    if _suspected(story) is not None:
        return t("First sign at step {step}: {title} (suspected root).", step=step, title=title)
    return t("First sign at step {step}: {title}.", step=step, title=title)


def _along(story: Story) -> str:
    rest = [one for one in story.along if one is not story.root or one.first == story.main.first]
    titles = list(dict.fromkeys(lowered(_plain(one)) for one in rest))
    titles = [title for title in titles if title != lowered(_plain(story.main))]
    return t("With it: {titles}.", titles=listed(titles[:3])) if titles else ""


def _others(story: Story) -> str:
    if not story.others:
        return ""
    # what the run may have learned to cheat at is worth more than what came first
    first = next((one for one in story.others if one.rule == _HACKING), story.others[0])
    title = lowered(_title(first))
    if not _ended(first):
        title = _named_at(title, first.first)
    if len(story.others) > 1:
        return t("Also {title}, and {n} more.", title=title, n=count(len(story.others) - 1))
    return t("Also {title}.", title=title)


def _named_at(title: str, step: int | None) -> str:
    if step is None:
        return t("{title} before the first step", title=title)
    return t("{title} at step {step}", title=title, step=count(step))


def _remarks(case: Case, story: Story | None) -> str:
    remarks = [one for one in case.findings.incidents if one.severity == Severity.INFO]
    if case.status == Status.HEALTHY:
        if _too_short(case):
            told = t("No rule fired, which says little")
            return _closed(
                t("{told}; {remarks}", told=told, remarks=plural(len(remarks), "remark")) if remarks else told
            )
        if not remarks:
            return t("Nothing to act on.")
        return t("Nothing to act on; {remarks}.", remarks=plural(len(remarks), "remark"))
    return _closed(opened(plural(len(remarks), "remark"))) if remarks and story is None else ""


def _muted(case: Case) -> str:
    """`2 findings are muted by run.toml (KL-05, LEN-02).`, so that nobody takes the run for clean."""
    muted = case.findings.muted
    codes = ", ".join(dict.fromkeys(one.incident.rule for one in muted))
    found = plural(len(muted), "finding is", "findings are")
    return t("{findings} muted by run.toml ({codes}).", findings=found, codes=codes) if muted else ""


def _closed(text: str) -> str:
    return text if not text or text.endswith((".", "…", "。")) else t("{sentence}.", sentence=text)
