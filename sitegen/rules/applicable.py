"""Whether a rule could say anything about a run. A rule that could not run is never `clear`."""

from __future__ import annotations

from sitegen.language import t
from sitegen.model import Run
from sitegen.rules.definition import Definition
from sitegen.rules.rowdata import RowData
from sitegen.store import Store, has_log


def missing(rule: Definition, run: Run, rows: RowData, store: Store) -> tuple[str, ...]:
    """What the rule needs and the run did not log; of several that would do, the first."""
    return tuple(
        need.partition("|")[0]
        for need in rule.needs
        if not any(_has(name, run, rows, store) for name in need.split("|"))
    )


def _has(need: str, run: Run, rows: RowData, store: Store) -> bool:
    if need == "log_lines":
        return has_log(run) or bool(store.lines(run.id))
    if need == "events":
        return run.steps > 0 or has_log(run)
    if need == "evals":
        return run.id in store.validated()
    if need == "best@N":
        return run.id in store.with_best_of_n()
    if need == "config":
        return bool(run.config)
    if need == "verl_version":
        return run.verl_version is not None
    if need == "planned":
        return run.planned_steps is not None
    return rows.carries(run.id, need) or _only_non_finite(run, need)


def _only_non_finite(run: Run, metric: str) -> bool:
    """Logged, though never as a number."""
    return any(one.metric == metric and one.non_finite > 0 for one in run.summary)


def silence(rule: Definition, run: Run, rows: RowData, answered: bool, evaluated: int) -> str:
    """Why a rule that found nothing cannot be called clear; "" when it can."""
    if evaluated:
        return ""
    if rule.relation == "events" and rule.scope == "row":
        return ""  # no event to look at is what health looks like
    logged = rows.count.get(run.id, 0)
    if not logged:
        return t("the run logged no training step")
    if not answered:
        return t("the rule gave no row for this run")
    few = "nothing could be evaluated: {rows} rows, or the values in them, are too few for its windows"
    return t(few, rows=logged)
