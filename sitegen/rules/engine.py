"""Cards over runs -> Findings. Persistence, muting, merging, severity and evidence live here, once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace

import numpy as np
import pyarrow as pa

from sitegen.errors import CardError
from sitegen.metrics import glossary
from sitegen.model import Findings, Incident, Muted, Outcome, Phase, Run, Verdict
from sitegen.rules import answers, phases, rowdata
from sitegen.rules.answers import Answer
from sitegen.rules.applicable import missing, silence
from sitegen.rules.choices import Overrides
from sitegen.rules.definition import Definition
from sitegen.rules.incidents import Maker
from sitegen.rules.moves import moves
from sitegen.rules.presets import Asked
from sitegen.rules.spans import Stretch, stretches
from sitegen.store import Store, moves_table, spans_table

#: Changes whenever the same cards and rows could give other findings.
engine_version = "2"

#: Answers that may wait to be read.
AHEAD = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A span of one rule, before it becomes an incident."""

    answer: Answer
    span: Stretch


@dataclass(slots=True)
class _Tally:
    """What one rule did on each run of a batch."""

    evaluated: dict[str, int]  # rows whose condition was true or false
    found: dict[str, list[Found]] = field(default_factory=dict)


def evaluate_store(
    store: Store,
    catalog: Sequence[Definition],
    overrides: Overrides,
    presets: Sequence[str] = (),
    faults: dict[str, CardError] | None = None,
) -> dict[str, Findings]:
    """Findings of every run of `store`, which should hold one batch.

    `presets` are for runs whose run.toml chooses none. A card that fails ends everything with a CardError;
    with `faults`, that is where its error is left, by code, and the card has no verdict.
    """
    words = frozenset().union(*(rule.metrics for rule in catalog))
    store.prepare(words)
    with np.errstate(over="ignore", invalid="ignore"):  # distances of the largest doubles are inf
        return _Batch(store, catalog, overrides, presets, faults).findings()


class _Batch:
    """One pass of all cards over a few runs."""

    def __init__(
        self,
        store: Store,
        catalog: Sequence[Definition],
        overrides: Overrides,
        presets: Sequence[str],
        faults: dict[str, CardError] | None = None,
    ) -> None:
        keys = {metric.key for metric in glossary().metrics}
        self.store = store
        self.catalog = catalog
        self.overrides = overrides
        self.faults = faults
        self.runs: tuple[Run, ...] = store.facts()
        self.asked = Asked(self.runs, catalog, presets)
        store.put("presets", self.asked.table())
        self.rows = rowdata.load(store, keys & frozenset().union(*(_shown(rule) for rule in catalog)))
        self.maker = Maker(store, self.rows)
        self.incidents: dict[str, list[Incident]] = {run.id: [] for run in self.runs}
        self.muted: dict[str, list[Muted]] = {run.id: [] for run in self.runs}
        self.verdicts: dict[str, list[Verdict]] = {run.id: [] for run in self.runs}
        self.phases: dict[str, tuple[Phase, ...]] = {}
        self.seen: list[tuple[object, ...]] = []  # rows of relation `spans`
        self._missing: dict[tuple[str, str], tuple[str, ...]] = {}

    def findings(self) -> dict[str, Findings]:
        first = [rule for rule in self.catalog if rule.kind == "incident" and not rule.after]
        second = [rule for rule in self.catalog if rule.kind == "incident" and rule.after]
        last = [rule for rule in self.catalog if rule.kind == "phase"]
        moved = False
        for rules in (first, second, last):
            if not moved and any("moves" in rule.words for rule in rules):
                self.store.put("moves", self._moves())
                moved = True
            for rule, answer in self._answers(self._worth_asking(rules)):
                self._judge(rule, answer)
            self.store.put("spans", spans_table(self.seen))
        return {run.id: self._of(run) for run in self.runs}

    def _judge(self, rule: Definition, answer: Future[pa.Table]) -> None:
        try:
            if rule.kind == "phase":
                self._phases_of(rule, answer.result())
            else:
                self._incidents_of(rule, answer.result())
        except CardError as error:
            if self.faults is None:
                raise
            self.faults[rule.code] = error

    def _moves(self) -> pa.Table:
        """Relation `moves`: where the score of each run goes from one level to another."""
        scores = self.rows.metrics.get("score", np.zeros(0))
        rows: list[tuple[object, ...]] = []
        for run in self.runs:
            found = moves(scores[self.rows.place(run.id)])
            rows += [(run.id, *astuple(move), found.noise) for move in found.moves]
            if not found.moves:
                rows.append((run.id, None, None, None, None, found.noise))
        return moves_table(rows)

    def _worth_asking(self, rules: Iterable[Definition]) -> list[Definition]:
        """Rules that some run has everything for. The others are not applicable, and cost nothing."""
        able = []
        for rule in rules:
            absent = {run.id: self._absent(rule, run) for run in self.asked.of(rule)}
            if not all(absent.values()):
                able.append(rule)
                continue
            for run, names in absent.items():
                self.verdicts[run].append(Verdict(rule.code, Outcome.NOT_APPLICABLE, names))
        return able

    def _absent(self, rule: Definition, run: Run) -> tuple[str, ...]:
        place = rule.code, run.id
        if place not in self._missing:
            self._missing[place] = missing(rule, run, self.rows, self.store)
        return self._missing[place]

    def _of(self, run: Run) -> Findings:
        incidents = sorted(self.incidents[run.id], key=_order)
        muted = sorted(self.muted[run.id], key=lambda one: _order(one.incident))
        verdicts = sorted(self.verdicts[run.id], key=lambda one: one.rule)
        phases = self.phases.get(run.id, ())
        return Findings(run.id, phases, tuple(incidents), tuple(verdicts), tuple(muted))

    def _params(self, rule: Definition) -> dict[str, object]:
        return {**rule.params, **self.overrides.get(rule.code, {})}

    def _answers(self, rules: Sequence[Definition]) -> Iterator[tuple[Definition, Future[pa.Table]]]:
        """Answers of the rules in their order. A card runs on each thread, a few ahead of who reads them."""
        with ThreadPoolExecutor(self.store.threads) as pool:
            waiting: deque[tuple[Definition, Future[pa.Table]]] = deque()
            for rule in rules:
                waiting.append((rule, pool.submit(answers.ask, self.store, rule, self._params(rule))))
                if len(waiting) > AHEAD:
                    yield waiting.popleft()
            yield from waiting

    def _incidents_of(self, rule: Definition, table: pa.Table) -> None:
        tally = self._tally(rule, table)
        for run in self.asked.of(rule):
            verdict = self._verdict(rule, run, tally)
            reason = next((one.reason for one in run.mutes if one.rule == rule.code), None)
            if verdict.outcome is Outcome.FIRED and reason is not None:
                verdict = Verdict(rule.code, Outcome.MUTED, (), reason)
                self._mute(rule, run, tally.found[run.id], reason)
            elif verdict.outcome is Outcome.FIRED:
                self._record(rule, run, tally.found[run.id])
            self.verdicts[run.id].append(verdict)

    def _tally(self, rule: Definition, table: pa.Table) -> _Tally:
        tally = _Tally(evaluated=answers.evaluated(table))
        for answer in answers.series(rule, table):
            if answer.hit.any():
                spans = self._spans(rule, answer)
                tally.found.setdefault(answer.run, []).extend(Found(answer, span) for span in spans)
        return tally

    def _spans(self, rule: Definition, answer: Answer) -> tuple[Stretch, ...]:
        if rule.scope == "run":
            return (Stretch(0, len(answer.hit) - 1, True),)
        at = answer.row if rule.relation == "events" else None
        muted = self._muted(rule, answer)
        found = stretches(answer.hit, answer.hold, muted, rule.persist, rule.exit, at)
        if at is None:
            return found
        last = self.rows.count.get(answer.run, 0)
        return tuple(replace(one, open=last - int(at[one.last]) < 2) for one in found)

    def _muted(self, rule: Definition, answer: Answer) -> answers.Flags:
        muted = np.zeros(len(answer.hit), np.bool_)
        if rule.mute:
            here = self.rows.place(answer.run)
            warm = self.rows.warm[here]
            placed = answer.row > 0
            muted[placed] = warm[np.minimum(answer.row[placed], len(warm)) - 1] if len(warm) else False
        return muted

    def _verdict(self, rule: Definition, run: Run, tally: _Tally) -> Verdict:
        absent = self._absent(rule, run)
        if absent:
            return Verdict(rule.code, Outcome.NOT_APPLICABLE, absent)
        if tally.found.get(run.id):
            return Verdict(rule.code, Outcome.FIRED)
        reason = silence(rule, run, self.rows, run.id in tally.evaluated, tally.evaluated.get(run.id, 0))
        return Verdict(rule.code, Outcome.NOT_APPLICABLE if reason else Outcome.CLEAR, (), reason)

    def _record(self, rule: Definition, run: Run, found: Sequence[Found]) -> None:
        for number, (one, incident) in enumerate(self._made(rule, run, found), start=1):
            self.incidents[run.id].append(incident)
            self.seen.append(self._seen(rule, run, number, one, incident))

    def _mute(self, rule: Definition, run: Run, found: Sequence[Found], reason: str) -> None:
        """Keep the findings apart, for the page only: cards that read `spans` see none of them."""
        self.muted[run.id] += (Muted(one, reason) for _, one in self._made(rule, run, found))

    def _made(self, rule: Definition, run: Run, found: Sequence[Found]) -> list[tuple[Found, Incident]]:
        """The spans of a rule in a run as incidents, numbered by onset."""
        made = [self.maker.incident(rule, run, one.answer, one.span) for one in found]
        order = sorted(range(len(made)), key=lambda at: (_onset(made[at]), made[at].metric or "", at))
        return [
            (found[at], replace(made[at], id=f"{run.id}/{rule.code}-{number}"))
            for number, at in enumerate(order, start=1)
        ]

    def _seen(
        self, rule: Definition, run: Run, n: int, found: Found, incident: Incident
    ) -> tuple[object, ...]:
        first, last = (int(found.answer.row[place]) for place in (found.span.first, found.span.last))
        if rule.scope == "run":
            first, last = first or 1, self.rows.count.get(run.id, 0)
        grade = int(incident.severity)
        return (run.id, rule.code, n, first, last, incident.first, incident.last, grade, incident.open)

    def _phases_of(self, rule: Definition, table: pa.Table) -> None:
        table = answers.ordered(rule, table)
        listed = {name: table[name].to_pylist() for name in ("run", "row", "step", "phase")}
        by_run: dict[str, list[int]] = {}
        for place, run in enumerate(listed["run"]):
            by_run.setdefault(run, []).append(place)
        for run in self.asked.of(rule):
            absent = self._absent(rule, run)
            places = by_run.get(run.id, []) if not absent else []
            self.phases[run.id] = self._spans_of_phases(rule, run.id, [listed["phase"][at] for at in places])
            outcome = Outcome.CLEAR if self.phases[run.id] else Outcome.NOT_APPLICABLE
            reason = "" if places or absent else silence(rule, run, self.rows, bool(places), len(places))
            self.verdicts[run.id].append(Verdict(rule.code, outcome, absent, reason))

    def _spans_of_phases(self, rule: Definition, run: str, words: list[str | None]) -> tuple[Phase, ...]:
        here = self.rows.place(run)
        if not words:
            return ()
        if len(words) != here.stop - here.start:
            where = f"{rule.path}:{rule.sql_line}: {rule.code}"
            raise CardError(f"{where}: gives {len(words)} rows for {run}, which has {here.stop - here.start}")
        segments, steps = self.rows.segment[here].tolist(), self.rows.step[here].tolist()
        shortest = min(rule.exit, int(self.rows.w[here][0]))
        try:
            return phases.spans(words, segments, steps, shortest)
        except ValueError as error:
            raise CardError(f"{rule.path}:{rule.sql_line}: {rule.code}: {error}") from None


def _shown(rule: Definition) -> set[str]:
    """Metrics whose rows the engine itself looks at."""
    return {*rule.facts, *rule.wanted, *([rule.metric] if rule.metric else [])}


def _onset(incident: Incident) -> int:
    return incident.first if incident.first is not None else -1


def _order(incident: Incident) -> tuple[int, str, str]:
    return _onset(incident), incident.rule, incident.id
