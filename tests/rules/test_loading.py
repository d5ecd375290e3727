"""Cards become rules, or every fault is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.errors import CardError
from sitegen.model import Severity
from sitegen.rules import loading
from tests.rules.written_cards import ABOVE, CASES, faults, rule, text


def test_a_good_card() -> None:
    found = rule(
        settings='persist = [3, 5]\nexit = 7\nmute = "warmup"\nfacts = ["score"]\nseverity = "error"'
    )
    assert (found.code, found.severity, found.persist, found.exit, found.mute) == (
        "GRD-99",
        Severity.ERROR,
        (3, 5),
        7,
        True,
    )
    assert found.metric == "grad_norm"
    assert found.relation == "steps"
    assert found.title == "A rule"
    assert found.sections["What to do"] == "- What to do told"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('serverity = "error"', 'unknown key "serverity"; did you mean "severity"?'),
        ('severity = "bad"', "severity must be"),
        ("persist = [5, 3]", "persist must be [k, m] with 1 <= k <= m"),
        ("persist = 3", "persist must be"),
        ("exit = 0", "exit must be"),
        ("mute = true", "mute must be"),
        ('scope = "all"', 'scope must be "row" or "run"'),
        ('relation = "rows"', "relation must be"),
        ('metric = "grad_nrm"', 'unknown metric "grad_nrm"; did you mean "grad_norm"?'),
        ('facts = ["scores"]', 'unknown metric "scores"'),
        ("params = { a = [1] }", "params must be"),
        ("params = { a = 1 }", "param a is set but the SQL does not use $a"),
        ('message = "{valu:.2f}"', "message names {valu}"),
        ('message = "{value:.2q}"', "does not format"),
        ('message = "{value!r}"', "is not supported"),
        ('message = "{value"', "message is not a template"),
        ('message = "{value.__class__}"', "message names {value.__class__}"),
    ],
)
def test_settings(settings: str, told: str) -> None:
    assert any(told in fault for fault in faults(text(settings=settings))), faults(text(settings=settings))


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT run, row, step, grad_norm AS value FROM steps", "the SELECT gives no column hit"),
        (ABOVE.replace("grad_norm > 1 AS hit", "grad_norm AS hit"), "column hit must be a condition"),
        (ABOVE.replace("grad_norm >", "grad_nrm >"), "grad_nrm"),
        ("SELECT * FROM steps", "SELECT * is not allowed"),
        ("DROP TABLE steps", "must be one SELECT; found DROP"),
        (ABOVE + "; " + ABOVE, "must be one SELECT; found SELECT, SELECT"),
    ],
)
def test_sql(sql: str, told: str) -> None:
    assert any(told in fault for fault in faults(text(sql))), faults(text(sql))


def test_faults_of_sql_have_the_line_in_the_card() -> None:
    card = text("SELECT run, row, step,\n  grad_nrm AS value, 1.0 AS threshold, true AS hit\nFROM steps")
    line = card.splitlines().index("  grad_nrm AS value, 1.0 AS threshold, true AS hit") + 1
    assert any(fault.startswith(f"{line}: ") and "grad_nrm" in fault for fault in faults(card))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("## Sources\n- Sources told\n", ""), "no section `## Sources`"),
        (("- Sources told\n", "\n"), "section `## Sources` is empty"),
        (("needs =", "neds ="), 'no "needs"'),
        (("# A rule", "A rule"), "no title"),
        (("expect = []", "expect = [[1, 2]]"), "no case in which the rule stays silent"),
        (("expect = [[11, 15]]", "expect = []"), "no case in which the rule fires"),
        (("expect = [[11, 15]]", "expect = [[15, 11]]"), "expect must be"),
        (('name = "low"', 'nam = "low"'), 'case: unknown key "nam"; did you mean "name"?'),
        (('"0.1x40"', '"0.1x"'), '"0.1x" is not a piece of a series'),
        (('grad_norm = "0.1x40"', 'grad_nrm = "0.1x40"'), 'case: unknown metric "grad_nrm"'),
        (
            ('grad_norm = "0.1x40"', 'grad_norm = "0.1x40", score = "1x39"'),
            "case: series differ in length: 39, 40 rows",
        ),
    ],
)
def test_text_and_cases(change: tuple[str, str], told: str) -> None:
    card = text().replace(*change)
    assert any(told in fault for fault in faults(card)), faults(card)


def test_a_card_needs_a_case_that_fires() -> None:
    cases = '```toml case\nname = "n"\nseries = { grad_norm = "2x5" }\nexpect = "not_applicable"\n```\n'
    assert any("no case in which the rule fires" in fault for fault in faults(text(cases=cases)))


def test_a_card_that_reads_spans_says_whose() -> None:
    sql = (
        "SELECT s.run, s.row, s.step, 1.0 AS value, 1.0 AS threshold, p.n > 0 AS hit "
        "FROM steps s JOIN spans p ON p.run = s.run"
    )
    assert any("reads spans but has no after" in fault for fault in faults(text(sql)))


def folder(path: Path, **cards: str) -> Path:
    for name, card in cards.items():
        (path / f"{name.replace('_', '-')}-a.md").write_text(card)
    return path


def test_faults_of_all_cards_are_raised_at_once(tmp_path: Path) -> None:
    folder(
        tmp_path,
        GRD_97=text(code="GRD-97", settings="exit = 0"),
        GRD_98=text(code="GRD-98").replace("# A rule", ""),
    )
    with pytest.raises(CardError) as raised:
        loading.catalog([tmp_path])
    assert "GRD-97-a.md:10: exit must be" in str(raised.value)
    assert "GRD-98-a.md:1: no title" in str(raised.value)


def test_rules_come_by_code(tmp_path: Path) -> None:
    folder(tmp_path, GRD_98=text(code="GRD-98"), ENT_97=text(code="ENT-97"))
    assert [found.code for found in loading.catalog([tmp_path])] == ["ENT-97", "GRD-98"]


def test_the_file_is_named_after_the_code(tmp_path: Path) -> None:
    folder(tmp_path, GRD_98=text(code="GRD-97"))
    with pytest.raises(CardError, match="file name must begin with GRD-97"):
        loading.catalog([tmp_path])


def test_codes_are_unique(tmp_path: Path) -> None:
    folder(tmp_path, GRD_98=text(code="GRD-98"))
    (tmp_path / "GRD-98-b.md").write_text(text(code="GRD-98"))
    with pytest.raises(CardError, match="code GRD-98 is taken by"):
        loading.catalog([tmp_path])


def test_a_rule_waits_for_rules_that_exist(tmp_path: Path) -> None:
    folder(tmp_path, GRD_98=text(code="GRD-98", settings='after = ["GRD-97"]'))
    with pytest.raises(CardError, match="after: no rule GRD-97"):
        loading.catalog([tmp_path])


def test_cases_may_say_what_cannot_be_judged() -> None:
    extra = '```toml case\nname = "nothing logged"\nexpect = "not_applicable"\n```\n'
    assert not faults(text(cases=CASES + extra))


def test_a_message_is_looked_at_although_the_sql_is_wrong() -> None:
    wrong = ABOVE.replace("grad_norm > 1 AS hit", "grad_nrm > 1 AS hit")
    found = faults(text(wrong, 'message = "{valu:.2f} at {step}, {value:.3g} of {grad_nrm}"'))
    assert any("grad_nrm" in fault and "message" not in fault for fault in found)
    assert [fault for fault in found if "message names" in fault] == [
        "9: message names {valu}, and so does nothing in the SQL"
    ], found


def test_a_param_has_a_meaning_in_words() -> None:
    limited = ABOVE.replace("grad_norm > 1 AS", "grad_norm > $limit AS")
    found = rule(limited, "params = { limit = 1.0 }\n# limit: norm above which it counts\n# other: nothing")
    assert found.meanings == {"limit": "norm above which it counts"}


SAID = ", CASE WHEN grad_norm > 9 THEN 'critical' ELSE 'info' END AS severity FROM"


@pytest.mark.parametrize(
    ("sql", "settings", "may_be"),
    [
        (ABOVE, 'severity = "error"', [Severity.ERROR]),
        (ABOVE.replace(" FROM", SAID), "", [Severity.INFO, Severity.CRITICAL]),
        (ABOVE.replace(" FROM", ", 'critical' AS word FROM"), "", [Severity.WARNING]),
    ],
)
def test_a_rule_knows_how_bad_its_findings_may_be(sql: str, settings: str, may_be: list[Severity]) -> None:
    assert list(rule(sql, settings).severities) == may_be
