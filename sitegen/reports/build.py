"""Everything that pages show, asked for once. What did not change comes from the archive's cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TypeVar

from sitegen import leaderboards, rules
from sitegen.archive import Archive
from sitegen.config import Config
from sitegen.model import Findings, Leaderboard, Rule
from sitegen.reports import codec, compare, digest, explained, kin, scorecard
from sitegen.reports.desk import Desk
from sitegen.reports.entries import Entry, archive_report, marks
from sitegen.reports.explained import Successors
from sitegen.reports.placed import placed
from sitegen.reports.projects import projects
from sitegen.reports.shapes import ArchiveReport, CaseView, RunReport
from sitegen.reports.spread import spread
from sitegen.store import Store

_FINDINGS, _ROWS, _BOARDS = "findings", "rows", "boards"

T = TypeVar("T")


class Reports:
    """Reports of one archive. `archive` and `run` read; nothing here changes a run.

    Can be sent to another process, which then keeps what it finds in the same archive.
    """

    def __init__(self, archive: Archive, config: Config) -> None:
        self._archive, self._config = archive, config
        cards = rules.catalog(config.rules)
        rules.check(cards, config.params, config.presets, config.muted, config.where)
        self._cards = tuple(rule for rule in cards if rule.code not in config.muted)
        self.catalog = tuple(plain(rule) for rule in self._cards)
        settings = digest.settings(self._cards, config)
        known = tuple(map(archive.run, archive.runs()))
        self._peers, self._seeds = compare.peers(known), kin.groups(known)
        self._kin, self._successors = kin.by_run(self._seeds), explained.successors(known)
        off = _switched_off(cards, config.muted)
        self.desk = Desk(archive.home, self.catalog, off, self._peers, self._kin, self._successors)
        self._keys = {run: digest.of(archive.run(run).fingerprint, settings) for run in archive.runs()}

    def key(self, run: str) -> str:
        """Changes when the data, the cards, the settings or the code change. Raises KeyError."""
        return self._keys[run]

    def shown(self, run: str) -> str:
        """As `key`, for all that the page shows: it compares the run with others, which may change."""
        peers, found = self._peers[run], self._successors.get(run, Successors())
        others = (each for each in (peers.baseline, peers.previous, *found.others) if each is not None)
        prints = (self._archive.run(each).fingerprint for each in others)
        return digest.of(
            self._told(run), peers.lost or "", *prints, *([repr(self._kin[run])] if run in self._kin else [])
        )

    def findings(self, run: str) -> Findings:
        """What the rules say about `run`."""
        return self.judged([run])[run]

    def judged(self, runs: Sequence[str], threads: int = 2) -> dict[str, Findings]:
        """What the rules say about `runs`. Those whose findings are not known yet are evaluated together."""
        known = {run: self._cached(_FINDINGS, self._keys[run], Findings) for run in runs}
        stale = [run for run, found in known.items() if found is None]
        made = self._evaluate(stale, threads) if stale else {}
        return {run: found or made[run] for run, found in known.items()}

    def run(self, run: str) -> RunReport:
        """All about `run`, read from its Parquet. Raises KeyError for a run the archive does not hold."""
        if run not in self._keys:
            raise KeyError(run)
        return self.desk.report(run, self.findings(run))

    def keep(self, run: str, made: Entry) -> None:
        """Remember what pages across runs show of `run`, made at a desk elsewhere."""
        self._archive.keep(_ROWS, self._told(run), codec.dumps(made))

    @cached_property
    def archive(self) -> ArchiveReport:
        """All that pages across runs show. Opens the Parquet of changed runs only."""
        found = [self._entry(run) for run in self._keys]
        archive = self._archive
        own = (archive.problems(), archive.ignored(), archive.now(), archive.removed())
        report = archive_report(found, self.catalog, self._cases(), self._boards(found), own)
        card = scorecard.bundled()
        scores = card.rules if card else {}
        views = (
            replace(
                view, changed=self._config.params.get(view.rule.code, {}), score=scores.get(view.rule.code)
            )
            for view in report.rules
        )
        groups = self._seeds if self._config.group_seeds else ()
        return replace(
            report,
            rules=tuple(views),
            scorecard=card,
            places=placed(report.leaderboards, groups),
            projects=projects(archive.run(run) for run in archive.runs()),
        )

    def refresh(self) -> None:
        """Evaluate the rules on every run whose findings are not known yet, and forget stale ones."""
        stale = [run for run, key in self._keys.items() if self._archive.cached(_FINDINGS, key) is None]
        for _ in spread(_judge, self, stale, self._config.jobs):
            pass
        self.forget()

    def forget(self) -> None:
        """Remove from the archive's cache what no longer holds."""
        self._archive.prune(_FINDINGS, set(self._keys.values()))
        self._archive.prune(_ROWS, set(map(self._told, self._keys)))

    def _told(self, run: str) -> str:
        """As `key`, for what notes say: which runs they name is known from the others alone."""
        found = self._successors.get(run)
        return self._keys[run] if found is None else digest.of(self._keys[run], repr(found))

    def _evaluate(self, batch: Sequence[str], threads: int = 2) -> dict[str, Findings]:
        muted = self._config.muted
        params = {code: values for code, values in self._config.params.items() if code not in muted}
        presets = self._config.presets
        found = rules.evaluate(self._archive, batch, self._cards, params, presets, threads)
        for run, findings in found.items():
            if rules.failure(findings):
                continue  # tried again by the next build
            self._archive.keep(_FINDINGS, self._keys[run], codec.dumps(findings))
        return found

    def _entry(self, run: str) -> Entry:
        found = self._cached(_ROWS, self._told(run), Entry)
        if found is not None:
            return found
        made = self.desk.entry(self.run(run))
        self.keep(run, made)
        return made

    def _cases(self) -> dict[str, tuple[CaseView, ...]]:
        return {
            rule.code: tuple(
                CaseView(one.name, one.series, one.expect, one.outcome) for one in rules.cases(rule)
            )
            for rule in self._cards
        }

    def _boards(self, entries: Sequence[Entry]) -> tuple[Leaderboard, ...]:
        marked = marks(entries)
        key = digest.of(tuple(self._keys.items()), tuple(sorted(marked.items())))
        found = self._cached(_BOARDS, key, tuple[Leaderboard, ...])
        if found is None:
            with Store(self._archive) as store:
                found = leaderboards.rank(store, marked)
            self._archive.keep(_BOARDS, key, codec.dumps(found))
        self._archive.prune(_BOARDS, {key})
        return found

    def _cached(self, room: str, key: str, kind: type[T]) -> T | None:
        data = self._archive.cached(room, key)
        try:
            return None if data is None else codec.loads(data, kind)
        except (ValueError, KeyError, TypeError):
            return None  # damaged: made again


def build(archive: Archive, config: Config) -> Reports:
    """Annotate what changed since the last build and give access to all reports.

    Raises CardError for cards that cannot be used.
    """
    found = Reports(archive, config)
    found.refresh()
    return found


def _judge(found: Reports, runs: Sequence[str], threads: int) -> None:
    """What `refresh` does to a batch: findings stay in the cache, nothing is sent back."""
    found.judged(runs, threads)


def plain(rule: Rule) -> Rule:
    """What pages may know of a card, without what only the engine needs."""
    return Rule(**{field.name: getattr(rule, field.name) for field in fields(Rule)})


def _switched_off(cards: Iterable[Rule], muted: Sequence[str]) -> tuple[Rule, ...]:
    return tuple(plain(rule) for rule in cards if rule.code in muted)
