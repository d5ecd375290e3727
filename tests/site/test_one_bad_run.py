"""A bug of ours that one run brings to light: it is told on that run's page, and the others are built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitegen import errors
from sitegen.config import Config
from sitegen.pages import run as run_page
from sitegen.reports import timing
from sitegen.reports.curves import Curves
from sitegen.reports.shapes import RunReport, TimingPart
from sitegen.rules import engine
from sitegen.site.prepare import Site, prepare
from sitegen.store import Store

BUG = "this is a bug in sitegen, the logs are fine"


def log(mark: str) -> str:
    return "".join(
        f"step:{n} - critic/score/mean:{0.1 + n / 100:.3f} - actor/entropy:{'nan' if n == 20 else 0.5}"
        f" - timing_s/step:10.0 - own/{mark}:1.0\n"
        for n in range(1, 31)
    )


@pytest.fixture(name="runs")
def two_runs(tmp_path: Path) -> Path:
    for name in ("bad", "good"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "train.log").write_text(log(name))
    return tmp_path / "runs"


def site(runs: Path) -> Site:
    return prepare(runs, runs.parent / "home", Config())


def html(made: Site, run: str) -> str:
    page = next(page for page in made.pages if page.path == f"runs/{run}/")
    return re.sub(r"\s+", " ", made.html(page))


def told(made: Site) -> list[tuple[str, str]]:
    return [(run, one.message) for run, one in made.report.problems if one.kind == "internal"]


def fail_to_report(patch: pytest.MonkeyPatch) -> None:
    parts = timing.parts

    def failing(curves: Curves) -> tuple[TimingPart, ...]:
        if curves.present("own/bad"):
            raise OverflowError("injected")
        return parts(curves)

    patch.setattr(timing, "parts", failing)


def fail_to_draw(patch: pytest.MonkeyPatch) -> None:
    facts = run_page.facts

    def failing(report: RunReport) -> tuple[run_page.FactBox, ...]:
        if report.run.id == "bad" and report.metrics:
            raise OverflowError("injected")
        return facts(report)

    patch.setattr(run_page, "facts", failing)


def fail_to_judge(patch: pytest.MonkeyPatch, error: Exception) -> None:
    judge = engine.evaluate_store

    def failing(store: Store, *rest: object) -> object:
        if "bad" in store.runs:
            raise error
        return judge(store, *rest)  # type: ignore[arg-type]

    patch.setattr(engine, "evaluate_store", failing)


@pytest.mark.parametrize("inject", [fail_to_report, fail_to_draw])
def test_a_run_that_cannot_be_shown_says_so_and_the_next_build_tries_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch, inject: object
) -> None:
    monkeypatch.delenv("SITEGEN_DEBUG", raising=False)
    with monkeypatch.context() as patch:
        inject(patch)  # type: ignore[operator]
        made = site(runs)
        assert told(made) == [("bad", f"OverflowError while reporting: {BUG}")]
        assert BUG in html(made, "bad")
        assert 'id="GRD-04-1"' in html(made, "bad")  # what the rules found is still told
        assert "injected" not in html(made, "bad")
        assert "sitegen failed" not in html(made, "good")
    mended = site(runs)
    assert told(mended) == []
    assert (mended.rendered, BUG in html(mended, "bad")) == (1, False)


def test_a_run_that_cannot_be_judged_is_not_called_healthy_and_others_are_judged(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SITEGEN_DEBUG", raising=False)
    with monkeypatch.context() as patch:
        fail_to_judge(patch, ZeroDivisionError("injected"))
        made = site(runs)
    assert told(made) == [("bad", f"ZeroDivisionError while applying the rules: {BUG}")]
    assert {row.id: str(row.status) for row in made.report.runs}["bad"] == "attention"
    assert {row.run for row in made.report.incidents} == {"good"}
    view = next(view for view in made.report.rules if view.rule.code == "GRD-04")
    assert {str(outcome): n for outcome, n in view.outcomes.items() if n} == {"fired": 1, "not_applicable": 1}
    assert told(site(runs)) == []


def test_a_card_that_fails_stays_loud(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_to_judge(monkeypatch, errors.CardError("card.md:3: no"))
    with pytest.raises(errors.CardError):
        site(runs)


def test_the_traceback_can_be_asked_for(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGEN_DEBUG", "1")
    fail_to_draw(monkeypatch)
    with pytest.raises(OverflowError, match="injected"):
        site(runs)
