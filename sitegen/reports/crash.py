"""What ended a run, from the log lines that an incident rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sitegen.language import t
from sitegen.model import Incident, LogLine
from sitegen.reports.words import clipped, lowered

_CAUSES = {
    "cuda_oom": "CUDA out of memory",
    "host_oom": "host out of memory",
    "nccl_timeout": "NCCL timeout",
    "actor_died": "a Ray worker died",
    "sigterm": "stopped by SIGTERM",
    "killed": "killed",
    "disk": "disk full",
}
_STAGES = (  # calls of the trainer that a reader knows, inner ones first
    "generate_sequences",
    "update_actor",
    "update_critic",
    "compute_ref_log_prob",
    "compute_log_prob",
    "compute_values",
    "compute_rm_score",
    "save_checkpoint",
    "load_checkpoint",
    "init_model",
    "_validate",
)
#: A setting that only advice on one of these calls names, in any language.
_ABOUT = {
    "generate_sequences": "rollout.gpu_memory_utilization",
    "_validate": "rollout.gpu_memory_utilization",
    "update_actor": "actor.ppo_micro_batch_size_per_gpu",
    "update_critic": "actor.ppo_micro_batch_size_per_gpu",
    "compute_ref_log_prob": "log_prob_micro_batch_size_per_gpu",
    "compute_log_prob": "log_prob_micro_batch_size_per_gpu",
}
_AT_EXIT = re.compile(r"((?:[\w.]+\.)?(?:\w*Error|\w*Exception))\b")
_STAGE = re.compile(rf"\b(?:\w*_)?({'|'.join(_STAGES)})\b")
_NAMES_ERROR = re.compile(r"Error|Exception|out of memory|timeout", re.IGNORECASE)
_LONGEST = 220
_LAST_ERROR = re.compile(r"^\s*((?:[\w.]+\.)?(?:\w*Error|\w*Exception))(?::|$)", re.MULTILINE)


def cause(incident: Incident, log_lines: Sequence[LogLine]) -> str:
    """`CUDA out of memory in generate_sequences`; the rule's title where the lines say nothing."""
    lines = incident.evidence.lines or tuple(log_lines)
    kind = next((line.kind for line in lines if line.kind in _CAUSES), "")
    what = t(_CAUSES.get(kind, "")) or _error(lines) or lowered(incident.title)
    where = _stage([*lines, *_near(lines, log_lines)])
    return t("{what} in {where}", what=what, where=where) if where else what


def quote(incident: Incident, log_lines: Sequence[LogLine]) -> str:
    """The telling log line with its place, or the incident's message."""
    lines = incident.evidence.lines
    line = next((one for one in lines if one.kind in _CAUSES), lines[0] if lines else None)
    if line is None:
        return clipped(incident.message, 240)
    said = clipped(_telling(line.text), _LONGEST)
    return t("{place} says: {text}", place=f"{line.path}:{line.line}", text=said)


def last_words(log_lines: Sequence[LogLine], last_step: int | None) -> str:
    """`in the debugger (Pdb)`, `BrokenPipeError at exit`: what a log that ends early does say."""
    said = [line for line in log_lines if line.level == "info" and line.step == last_step]
    if said and "(Pdb)" in said[-1].text:
        return t("in the debugger (Pdb)")
    error = _AT_EXIT.match(next((line.text for line in reversed(said) if line.kind == "traceback"), ""))
    return t("{error} at exit", error=error[1]) if error else ""


def advised(incident: Incident, log_lines: Sequence[LogLine]) -> Incident:
    """The incident with the advice first that is about the call which failed."""
    stage = _stage([*incident.evidence.lines, *_near(incident.evidence.lines, log_lines)])
    about = _ABOUT.get(stage)
    if about is None or not incident.rule.startswith("RUN-"):
        return incident
    return replace(incident, advice=tuple(sorted(incident.advice, key=lambda one: about not in one)))


def _error(lines: Sequence[LogLine]) -> str:
    for line in lines:
        found = _LAST_ERROR.findall(line.text)
        if found:
            return t("uncaught {error}", error=str(found[-1]).rsplit(".", 1)[-1])
    return ""


def _stage(lines: Sequence[LogLine]) -> str:
    for line in lines:
        found = _STAGE.search(line.text)
        if found:
            return found.group(1)
    return ""


def _near(lines: Sequence[LogLine], log_lines: Sequence[LogLine]) -> list[LogLine]:
    """Errors of the same file within 60 lines above: the traceback that ends in the telling line."""
    if not lines:
        return []
    last = lines[0]
    return [
        line
        for line in log_lines
        if line.path == last.path and 0 <= last.line - line.line <= 60 and line.level in ("error", "critical")
    ]


def _telling(text: str) -> str:
    """The first line that names the error, as whole sentences where they fit."""
    rows = [row for row in text.splitlines() if row.strip()]
    row = next((row for row in rows if _NAMES_ERROR.search(row)), rows[0] if rows else "").strip()
    if len(row) <= _LONGEST:
        return row
    whole = row[: _LONGEST + 1].rpartition(". ")[0]
    return f"{whole}." if whole else row
