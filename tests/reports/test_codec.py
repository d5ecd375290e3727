from __future__ import annotations

import math

import pytest

from sitegen.model import BoardEntry, Findings, Leaderboard, Outcome, Severity
from sitegen.reports import assemble, codec
from sitegen.reports.entries import Entry, entry
from sitegen.reports.rows import incident_rows
from tests.reports.made import findings, incident, line, moved, run, series


def test_findings_come_back_as_they_were() -> None:
    evidence = moved(("score", "Score", 0.5, 0.25), lines=(line("cuda_oom", "CUDA out of memory"),))
    found = findings(incident(evidence=evidence), phases=[("climb", 1, 100)], blind={"ENT-01": ["entropy"]})
    assert codec.loads(codec.dumps(found), Findings) == found


def test_an_entry_comes_back_as_it_was() -> None:
    found = findings(incident())
    report = assemble.report(run(), found, series({"critic/score/mean": [0.1, 0.2]}), (), ())
    made = entry(report, incident_rows(report, {50: 12.5}))
    back = codec.loads(codec.dumps(made), Entry)
    assert back == made
    assert back.incidents[0].severity is Severity.WARNING
    assert back.outcomes == {"GRD-01": Outcome.FIRED}


def test_values_that_json_does_not_know_survive() -> None:
    boards = (Leaderboard("s", "t", "", "", "up", (), (BoardEntry(1, "r", "r", math.inf, None, ""),), ()),)
    assert codec.loads(codec.dumps(boards), tuple[Leaderboard, ...]) == boards
    nan = codec.loads(codec.dumps(incident(value=math.nan)), type(incident()))
    assert nan.value is not None and math.isnan(nan.value)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"[1, 2]", b'["demo", [], [[]], []]'])
def test_damaged_data_is_an_error_the_caller_can_catch(data: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        codec.loads(data, Findings)
