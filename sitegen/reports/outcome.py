"""What a run came to: its best number, what it cost after things went wrong, what nobody checked."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sitegen.language import t
from sitegen.metrics import glossary
from sitegen.model import Outcome, Status
from sitegen.reports import timing
from sitegen.reports.case import Case
from sitegen.reports.shapes import Best
from sitegen.reports.story import first_serious
from sitegen.reports.validation import headline_view
from sitegen.reports.words import THIN, count, hours, listed, lowered, number, plural


def validation_loss(case: Case) -> str:
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
    levels = {"best": number(view.best), "last": number(view.last)}
    return t("Validation on {dataset} fell from {best} to {last}.", dataset=view.dataset, **levels)


def _noise(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Standard deviation of one evaluation, from second differences, which no trend moves; 0 for few."""
    return float(np.median(np.abs(np.diff(values, 2))) * 1.4826 / np.sqrt(6)) if len(values) > 6 else 0.0


def best(case: Case) -> str:
    """The number the run is known by, and the checkpoint to go back to."""
    found = case.best
    if found is None:
        return ""
    what = _best_value(found)
    saved = _checkpoints(case)
    at = count(found.step)
    if found.step in saved:
        return t("{best}; best checkpoint: step {step}.", best=what, step=at)
    onset = first_serious(case.findings.incidents)
    before = [step for step in saved if onset is None or onset.first is None or step < onset.first]
    if onset is not None and before:
        told = "{best} at step {step}; last checkpoint before the onset: step {saved}."
        return t(told, best=what, step=at, saved=count(before[-1]))
    view = headline_view(case.validation)
    if case.status != Status.HEALTHY or view is None or view.last == view.best:
        return t("{best} at step {step}.", best=what, step=at)
    return t("{best} at step {step}, {last} at the end.", best=what, step=at, last=number(view.last))


def _best_value(best: Best) -> str:
    if not best.validation:
        return t("Best {metric} {value}", metric=best.label.split(",", 1)[0], value=number(best.value))
    if glossary().describe(best.name).better == "down":
        return t("Lowest validation loss {value}", value=number(best.value))
    return t("Best validation {value} on {dataset}", value=number(best.value), dataset=best.label)


def _checkpoints(case: Case) -> list[int]:
    """Steps at which a checkpoint was saved, as the log says or as its time was logged."""
    timed = case.curves.steps[np.nan_to_num(case.curves.values("time_save_checkpoint")) > 0]
    said = [line.step for line in case.log_lines if line.kind == "checkpoint_saved" and line.step is not None]
    return sorted({*(int(step) for step in timed), *said})


def after_onset(case: Case) -> str:
    """`36 GPU-hours ran after onset`, from the first incident of error or worse."""
    onset = first_serious(case.findings.incidents)
    if onset is None:
        return ""
    spent = timing.seconds_from(case.curves, onset.first)
    if spent is None or spent < 360:
        return ""
    if case.run.gpus is not None:
        return t("{hours} GPU-hours ran after onset.", hours=hours(spent * case.run.gpus / 3600))
    return t("{hours}h ran after onset.", hours=f"{hours(spent / 3600)}{THIN}")


def unchecked(case: Case) -> str:
    """How many rules could not run, and what the run would have to log for them."""
    verdicts = case.findings.verdicts
    blind = [verdict for verdict in verdicts if verdict.outcome == Outcome.NOT_APPLICABLE]
    if not blind:
        return ""
    wanted = Counter(key for verdict in blind for key in verdict.missing)
    ranked = sorted(wanted.items(), key=lambda item: (-item[1], item[0]))
    titles = list(dict.fromkeys(_title(key) for key, _ in ranked))
    shown = titles if len(titles) <= 3 else [*titles[:3], t("more")]
    counted = {"n": count(len(blind)), "rules": plural(len(verdicts), "rule")}
    if not shown:
        return t("{n} of {rules} could not be checked.", **counted)
    return t("{n} of {rules} could not be checked (not logged: {names}).", **counted, names=listed(shown))


def _title(key: str) -> str:
    metric = glossary().by_key(key)
    if metric is None:
        return t("validation") if key == "evals" else t(key.replace("_", " "))
    return lowered(metric.title.split(",", 1)[0].split("（", 1)[0])
