from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from sitegen import archive as archives
from sitegen import reports
from sitegen.config import Config
from sitegen.errors import ConfigError
from sitegen.model import Outcome, Status

CARD = """# Entropy above a limit

Says where entropy is above a limit, to try settings.

```toml rule
code = "OWN-01"
kind = "incident"
severity = "warning"
needs = ["entropy"]
persist = [1, 1]
since = "0.1.0"
metric = "entropy"
message = "Entropy {value:.3g}"
params = { limit = 0.5 }
```
```sql
SELECT run, row, step, entropy AS value, $limit AS threshold, entropy > $limit AS hit FROM steps
```
## Why it matters
It does not.
## Likely causes
- a cause
## What to do
- something
## What else looks like this
Nothing.
## Sources
None.
## Cases
```toml case
name = "high entropy"
series = { entropy = "0.1x30 0.9x30" }
expect = [[31, 60]]
```
```toml case
name = "low entropy"
series = { entropy = "0.1x60" }
expect = []
```
"""


def log(entropy: float) -> str:
    scores = np.linspace(0.1, 0.9, 60)
    lines = (
        f"step:{step} - critic/score/mean:{score:.4f} - actor/entropy:{entropy} - actor/grad_norm:0.5"
        for step, score in enumerate(scores, start=1)
    )
    return "\n".join(lines) + "\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, one of them with high entropy, and a card that says so."""
    folder = tmp_path / "runs"
    for name, entropy in (("high", 0.9), ("low", 0.1)):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.log").write_text(log(entropy))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "OWN-01-entropy.md").write_text(CARD)
    return folder


def build(runs: Path, **changes: Any) -> reports.Reports:
    home = runs.parent / ".sitegen"
    archives.update(runs, home, jobs=1)
    config = replace(Config(runs=runs, home=home, rules=(runs.parent / "rules",)), **changes)
    return reports.build(archives.Archive(home), config)


def fired(found: reports.Reports) -> Mapping[str, bool]:
    outcomes = {run: found.run(run).verdicts for run in ("high", "low")}
    return {
        run: any(v.rule == "OWN-01" and v.outcome == Outcome.FIRED for v in verdicts)
        for run, verdicts in outcomes.items()
    }


def test_every_run_is_reported(runs: Path) -> None:
    found = build(runs)
    assert fired(found) == {"high": True, "low": False}
    assert found.run("high").status == Status.ATTENTION
    assert {row.id for row in found.archive.runs} == {"high", "low"}
    view = next(view for view in found.archive.rules if view.rule.code == "OWN-01")
    assert [row.run for row in view.fired] == ["high"]
    assert [case.name for case in view.cases] == ["high entropy", "low entropy"]


def test_a_warm_build_opens_no_parquet(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = build(runs).archive

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a Parquet file was opened although nothing changed")

    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", opened)
    monkeypatch.setattr(pyarrow.parquet, "read_table", opened)
    warm = build(runs)
    monkeypatch.setattr("sitegen.rules.evaluate", opened)
    monkeypatch.setattr("sitegen.leaderboards.rank", opened)
    assert warm.archive == cold


def test_a_cold_build_says_the_same_as_a_warm_one(runs: Path) -> None:
    build(runs)
    warm = build(runs)
    kept = warm.archive, warm.run("high").sentence
    for file in (runs.parent / ".sitegen" / "cache").rglob("*"):
        if file.is_file():
            file.unlink()
    cold = build(runs)
    assert (cold.archive, cold.run("high").sentence) == kept


def test_a_damaged_cache_is_made_again(runs: Path) -> None:
    whole = build(runs).archive
    for file in (runs.parent / ".sitegen" / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:20])
    assert build(runs).archive == whole


def test_only_what_changed_is_evaluated_again(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build(runs)
    (runs / "low" / "train.log").write_text(log(0.2))
    asked: list[str] = []
    real = reports.build.__globals__["rules"].evaluate

    def watched(archive: Any, batch: Any, *rest: Any) -> Any:
        asked.extend(batch)
        return real(archive, batch, *rest)

    monkeypatch.setattr("sitegen.rules.evaluate", watched)
    after = build(runs)
    assert asked == ["low"]
    assert after.key("high") == before.key("high") and after.key("low") != before.key("low")


def test_a_changed_card_changes_the_key(runs: Path) -> None:
    before = build(runs).key("high")
    card = runs.parent / "rules" / "OWN-01-entropy.md"
    card.write_text(CARD.replace("It does not.", "It does, a little."))
    assert build(runs).key("high") != before


def test_a_folder_of_cards_may_move(runs: Path) -> None:
    before = build(runs).key("high")
    (runs.parent / "rules").rename(runs.parent / "cards")
    assert build(runs, rules=(runs.parent / "cards",)).key("high") == before


def test_a_site_may_set_parameters_of_a_rule(runs: Path) -> None:
    found = build(runs, params={"OWN-01": {"limit": 0.05}})
    assert fired(found) == {"high": True, "low": True}
    assert found.key("high") != build(runs).key("high")


def test_a_muted_rule_is_not_run_and_not_shown(runs: Path) -> None:
    found = build(runs, muted=("OWN-01",), params={"OWN-01": {"limit": 0.05}})
    assert fired(found) == {"high": False, "low": False}
    assert "OWN-01" not in {view.rule.code for view in found.archive.rules}


def test_parameters_of_a_rule_that_does_not_exist_are_an_error(runs: Path) -> None:
    with pytest.raises(ConfigError, match="OWN-02"):
        build(runs, params={"OWN-02": {"limit": 1.0}})


def test_findings_of_removed_runs_are_forgotten(runs: Path) -> None:
    build(runs)
    kept = len(list((runs.parent / ".sitegen" / "cache" / "findings").iterdir()))
    (runs / "low" / "train.log").unlink()
    build(runs)
    assert (kept, len(list((runs.parent / ".sitegen" / "cache" / "findings").iterdir()))) == (2, 1)


def test_an_empty_archive_has_an_empty_report(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    found = build(tmp_path / "runs", rules=())
    assert (found.archive.runs, found.archive.incidents, found.archive.now) == ((), (), None)


def test_a_page_is_drawn_anew_when_the_run_it_is_compared_with_changes(runs: Path) -> None:
    (runs / "high" / "run.toml").write_text('baseline = "low"\n')
    before = build(runs)
    assert [(one.relation, one.run) for one in before.run("high").compared] == []
    for name, lr in (("high", "1e-06"), ("low", "5e-07")):
        (runs / name / ".hydra").mkdir()
        (runs / name / ".hydra" / "config.yaml").write_text(f"trainer:\n  lr: {lr}\n")
    after = build(runs)
    (found,) = after.run("high").compared
    assert [(row.key, row.here, row.there) for row in found.differing] == [("trainer.lr", "1e-06", "5e-07")]
    (runs / "low" / ".hydra" / "config.yaml").write_text("trainer:\n  lr: 2e-06\n")
    again = build(runs)
    assert again.key("high") == after.key("high") and again.shown("high") != after.shown("high")
