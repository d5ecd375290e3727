"""A run that sitegen itself failed on: one bad run must not take the others with it.

With SITEGEN_DEBUG=1 nothing is caught, so that the traceback is seen.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from sitegen.errors import Problem, SitegenError
from sitegen.model import Evidence, Fact, Findings, Incident, Outcome, Rule, Run, Status
from sitegen.reports import assemble
from sitegen.reports.shapes import RunReport

KIND = "internal"
HEADLINE = "sitegen failed on this run"
_HINT = "Set SITEGEN_DEBUG=1 for the traceback and please report it with the run's files."


def ours(error: Exception) -> bool:
    """Whether `error` is a bug to be told as a problem of one run; errors that users can act on are not."""
    return not isinstance(error, SitegenError) and os.environ.get("SITEGEN_DEBUG") != "1"


def problem(run: Run, doing: str, name: str) -> Problem:
    """What `run` is told to have, where an exception called `name` came up while `doing`."""
    message = f"{name} while {doing}: this is a bug in sitegen, the logs are fine"
    return Problem(run.path, None, KIND, message, _HINT)


def report(run: Run, findings: Findings, error: Exception, catalog: Sequence[Rule]) -> RunReport:
    """A report without a curve: facts of the run, sentences of its incidents, and what went wrong."""
    name = type(error).__name__
    known = replace(run, problems=(*run.problems, problem(run, "reporting", name)))
    try:
        made = assemble.report(known, _plain(findings), {}, (), catalog)
    except Exception:  # the findings are what it fails on
        made = assemble.report(known, bare(findings), {}, (), catalog)
    return _marked(made, f"Its curves and numbers are not shown ({name}); this is a bug in sitegen, "
                         "the logs are fine.")  # fmt: skip


def unjudged(made: RunReport, name: str) -> RunReport:
    """`made` for a run on which the rules failed: nobody checked it, so it is not called healthy."""
    told = problem(made.run, "applying the rules", name)
    known = replace(made.run, problems=(*made.run.problems, told))
    made = replace(made, run=known, problems=known.problems)
    return _marked(made, f"No rule was applied ({name}); this is a bug in sitegen, the logs are fine.")


def bare(findings: Findings) -> Findings:
    """No phase, no incident; a rule that had fired is one that says nothing any more."""
    said = (Outcome.FIRED, Outcome.MUTED)
    verdicts = (one for one in findings.verdicts if one.outcome not in said)
    return Findings(findings.run, (), (), tuple(verdicts))


def _plain(findings: Findings) -> Findings:
    muted = (replace(one, incident=_told(one.incident)) for one in findings.muted)
    return replace(findings, incidents=tuple(map(_told, findings.incidents)), muted=tuple(muted))


def _told(incident: Incident) -> Incident:
    """`incident` with its sentence and log lines, without numbers to draw."""
    lines = incident.evidence.lines
    facts = () if lines else (Fact("events", "events", "", None, None),)
    return replace(incident, evidence=Evidence(None, facts=facts, lines=lines))


def _marked(made: RunReport, sentence: str) -> RunReport:
    status = Status.ATTENTION if made.status is Status.HEALTHY else made.status
    row = replace(made.row, status=status, headline=HEADLINE, problems=len(made.problems))
    return replace(made, row=row, status=status, headline=HEADLINE, sentence=sentence)
