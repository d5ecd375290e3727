"""Before and after, said as a sentence: `Score rose from 0.86 to 0.96 while reference KL grew 4.0×`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sitegen.language import ENGLISH, spoken, t
from sitegen.metrics import glossary
from sitegen.model import Fact
from sitegen.reports.words import THIN, listed, lowered, number, opened

_VERBS = {  # metric -> subject, up, down
    "score": ("score", "rose", "fell"),
    "rewards": ("reward", "rose", "fell"),
    "kl_ref": ("reference KL", "grew", "shrank"),
    "ppo_kl": ("update KL", "grew", "shrank"),
    "grad_norm": ("gradient norm", "grew", "shrank"),
    "response_length": ("responses", "lengthened", "shortened"),
    "pg_loss": ("policy loss", "rose", "fell"),
}
_LEVELS = {"score", "rewards", "vf_explained_var"}  # levels people know: told as from-to, not as a ratio
_SLIGHT = 0.1  # a change of less than a tenth is no movement
_MOST = 3


def sentence(facts: Sequence[Fact], metric: str | None = None) -> str:
    """What moved together, the incident's own metric first; "" where less than two numbers moved by a tenth.

    A single number is what the message of the incident is about.
    """
    told = [(fact, text) for fact in facts if glossary().by_key(fact.metric) and (text := clause(fact))]
    told.sort(key=lambda pair: (pair[0].metric != metric, -_size(pair[0])))
    clauses = list(dict.fromkeys(text for _, text in told))[:_MOST]
    if len(clauses) < 2:
        return ""
    return t("{first} while {others}.", first=opened(clauses[0]), others=listed(clauses[1:]))


def clause(fact: Fact) -> str:
    """`reference KL grew 4.0× to 0.14`; "" where nothing moved by a tenth."""
    before, after = fact.before, fact.after
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)):
        return ""
    if _size(fact) < math.log1p(_SLIGHT):
        return ""
    usual = (lowered(fact.label), "rose", "fell")
    subject, up, down = _VERBS.get(fact.metric, usual) if spoken() == ENGLISH else usual
    verb = t(up if after > before else down)
    amount = _amount(fact.metric, before, after)
    return t("{subject} {verb} {amount}", subject=subject, verb=verb, amount=amount)


def _amount(metric: str, before: float, after: float) -> str:
    if metric in _LEVELS or before <= 0 or after <= 0:
        return t("from {before} to {after}", before=number(before), after=number(after))
    ratio = after / before
    if math.isinf(ratio):
        return t("from {before} to {after}", before=number(before), after=number(after))
    if ratio >= 2:
        times = number(round(ratio)) if ratio >= 10 else f"{ratio:.1f}"
        return t("{times}× to {after}", times=times, after=number(after))
    return t("by {percent}% to {after}", percent=f"{abs(ratio - 1) * 100:.0f}{THIN}", after=number(after))


def _size(fact: Fact) -> float:
    """How far a number moved, as |log ratio|; a change of sign or from zero counts as far."""
    before, after = fact.before, fact.after
    if before is None or after is None or before == after:
        return 0.0
    if before and after and (before > 0) == (after > 0):
        return abs(math.log(abs(after)) - math.log(abs(before)))  # the ratio itself may overflow
    return 3.0
