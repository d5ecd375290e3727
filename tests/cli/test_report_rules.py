from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Sitegen

CARD = """# Entropy is there

One sentence.

```toml rule
code = "OWN-01"
kind = "incident"
severity = "info"
needs = ["entropy"]
since = "0.1.0"
metric = "entropy"
message = "Entropy {value:.3g}"
```
```sql
SELECT run, row, step, entropy AS value, 0.0 AS threshold, entropy > 5 AS hit FROM steps
```
## Why it matters
It does.
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
series = { entropy = "1x30 9x30" }
expect = [[31, 60]]
```
```toml case
name = "low entropy"
series = { entropy = "1x60" }
expect = []
```
"""


def test_report_writes_markdown_with_its_figures_beside_it(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("report", runs / "bad", "-o", "out/report.md")
    assert (answer.status, answer.out.strip()) == (0, "out/report.md")
    text = Path("out/report.md").read_text()
    assert "CUDA out of memory in update\\_actor" in text or "in update_actor" in text
    assert "(report-trend.png)" in text
    assert Path("out/report-trend.png").read_bytes().startswith(b"\x89PNG")


def test_report_draws_svg_where_asked(sitegen: Sitegen, runs: Path) -> None:
    sitegen("report", runs / "good", "-o", "report.md", "--svg")
    assert b"<svg" in Path("report-trend.svg").read_bytes()


def test_report_without_a_file_goes_to_stdout(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("report", runs / "good")
    assert answer.out.startswith("# good\n") and "report-trend" not in answer.out


def test_of_several_runs_one_must_be_chosen(sitegen: Sitegen, runs: Path) -> None:
    answer = sitegen("report", runs)
    assert answer.status == 2 and "holds 2 runs: bad, good" in answer.err
    assert sitegen("report", runs, "--run", "good").out.startswith("# good\n")
    assert "holds no run 'best'" in sitegen("report", runs, "--run", "best").err


def test_rules_list_has_a_line_per_rule(sitegen: Sitegen) -> None:
    lines = sitegen("rules", "list").out.splitlines()
    assert lines[0].split() == ["code", "severity", "title", "needs"]
    assert any(line.startswith("KL-05 ") for line in lines) and len(lines) > 20


def test_rules_show_tells_meaning_condition_and_advice(sitegen: Sitegen) -> None:
    text = sitegen("rules", "show", "kl-05").out
    assert text.startswith("KL-05") and "What to do" in text and "SELECT" in text


def test_an_unknown_rule_is_told_the_nearest(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "show", "KL-5")
    assert answer.status == 2 and "Did you mean 'KL-05'?" in answer.err


def test_the_cases_of_one_rule_are_run(sitegen: Sitegen) -> None:
    answer = sitegen("rules", "test", "GRD-04")
    assert answer.status == 0 and answer.out.strip().endswith("cases pass")


def test_the_cases_of_an_own_card_are_run(sitegen: Sitegen, tmp_path: Path) -> None:
    (tmp_path / "OWN-01-entropy.md").write_text(CARD)
    answer = sitegen("rules", "test", "OWN-01-entropy.md")
    assert (answer.status, answer.out) == (0, "2 of 2 cases pass\n"), answer.err


def test_a_case_that_fails_is_named_with_its_place(sitegen: Sitegen, tmp_path: Path) -> None:
    (tmp_path / "OWN-01-entropy.md").write_text(CARD.replace("[[31, 60]]", "[[5, 9]]"))
    answer = sitegen("rules", "test", "OWN-01-entropy.md")
    assert answer.status == 1
    assert "FAIL OWN-01  high entropy" in answer.out and "OWN-01-entropy.md:" in answer.out
    assert "1 of 2 cases pass" in answer.out


def test_a_card_that_cannot_be_used_is_explained(sitegen: Sitegen, tmp_path: Path) -> None:
    (tmp_path / "OWN-01-entropy.md").write_text("# Nothing\n")
    answer = sitegen("rules", "test", "OWN-01-entropy.md")
    assert answer.status == 1 and "OWN-01-entropy.md:" in answer.err and "Traceback" not in answer.err


def test_a_card_whose_sql_fails_only_on_rows_ends_a_check_with_its_line(
    sitegen: Sitegen, runs: Path, tmp_path: Path
) -> None:
    failing = CARD.replace("entropy", "score").replace(
        "0.0 AS threshold", "CAST('x' AS INTEGER) AS threshold"
    )
    (tmp_path / "rules").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "rules" / "OWN-01-score.md").write_text(failing)
    site = "site_name: A\ntheme: {name: material, font: false}\nplugins: [{sitegen: {rules: [rules]}}]\n"
    (tmp_path / "mkdocs.yml").write_text(site)
    answer = sitegen("check", runs, "-c", "mkdocs.yml")
    assert answer.status == 1
    line = failing.splitlines().index("```sql") + 2
    assert f"rules/OWN-01-score.md:{line}: OWN-01: Conversion Error" in answer.err


def test_a_report_speaks_the_language_asked_for(sitegen: Sitegen, repo: Path) -> None:
    run = repo / "runs" / "abacus" / "grpo-no-kl-lenient-checker"
    answer = sitegen("report", str(run), "-q", "--language", "zh")
    assert answer.status == 0, answer.err
    assert "\n## 发生了什么\n" in answer.out and "\n| 位置 | 严重程度 |" in answer.out
    people = " ".join(
        " ".join(file.read_text("utf-8").split())
        for file in run.rglob("*")
        if file.suffix in (".md", ".toml")
    )
    prose = re.sub(r"`[^`]*`", "", answer.out)
    found = re.findall(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}\b", prose)
    assert [one for one in found if one not in people] == []


def test_a_report_speaks_the_language_of_the_site(sitegen: Sitegen, tmp_path: Path, repo: Path) -> None:
    (tmp_path / "docs").mkdir()
    Path("mkdocs.yml").write_text("site_name: x\nplugins:\n  - sitegen: {language: zh}\n")
    run = repo / "runs" / "abacus" / "grpo-baseline"
    assert "\n## 数据来源\n" in sitegen("report", str(run), "-q").out
    assert "\n## Read from\n" in sitegen("report", str(run), "-q", "--language", "en").out
