"""A rule as its card defines it. Frozen; what a rule found is kept elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sitegen.cards import Card, Table
from sitegen.model import Rule

ADVICE, CAUSES = "What to do", "Likely causes"  # sections that an incident quotes
#: Columns of the answer that the engine knows; all others are facts for the message and the evidence.
KNOWN = (
    "run",
    "row",
    "idx",
    "step",
    "name",
    "value",
    "threshold",
    "hit",
    "hold",
    "severity",
    "segment",
    "first",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(Rule):
    """A rule card with everything the engine needs.

    Args:
        relation: "steps", "evals" or "events": whose index persistence and exit count in.
        scope: "row", or "run" where the SQL answers one row per run.
        persist: (k, m): true in k of m rows.
        exit: rows of calm that close a span; for events, rows of `steps`. For a phase, the rows below which
            a stretch is flicker.
        mute: nothing opens during warm-up.
        metric: canonical metric whose chart is the evidence; None where there is none.
        facts: metrics shown before and after the onset.
        message: template over the answer's columns.
        said: texts of the answer -> as they are said in the language of the card; `{}` stands for anything.
        after: codes whose spans the SQL reads from relation `spans`.
        extra: answer columns beyond the known ones.
        words: words of the SQL, to load only what it may name.
        cases: fenced case blocks of the card.
    """

    relation: str
    scope: str
    persist: tuple[int, int]
    exit: int
    mute: bool
    metric: str | None
    facts: tuple[str, ...]
    message: str
    after: tuple[str, ...]
    columns: Mapping[str, str]
    extra: tuple[str, ...]
    words: frozenset[str]
    sql_line: int
    cases: tuple[Table, ...]
    card: Card
    said: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> frozenset[str]:
        """All that `needs` names, alternatives apart."""
        return frozenset(name for need in self.needs for name in need.split("|"))

    @property
    def metrics(self) -> frozenset[str]:
        """Canonical metrics to load for this rule, its evidence included."""
        own = {self.metric} if self.metric else set()
        return self.words | own | set(self.facts) | self.wanted

    def in_language(self, code: str) -> Definition:
        """The rule as its card says it in language `code`; in English where the card does not."""
        told = self.card.translations.get(code)
        if told is None:
            return self
        own = {ADVICE: told.advice, CAUSES: told.causes}
        sections = {**self.sections, **{name: text for name, text in own.items() if text}}
        message = told.message or self.message
        return replace(
            self, title=told.title, summary=told.summary, message=message, sections=sections, said=told.words
        )
