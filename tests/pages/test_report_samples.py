"""Samples in report.md: enough to see what changed, and nothing that acts."""

from __future__ import annotations

from markdown_it import MarkdownIt

from sitegen.pages import report_samples
from tests.pages import made_runs, made_samples


def test_scores_by_step_and_the_answers_around_an_incident() -> None:
    text = report_samples.section(made_samples.report("so it is four", "so it is five", "so it is six"))
    assert text.startswith("## Samples\n\n24 validation samples of 3 steps (1 to 3).")
    assert "| Validation | 2 | 8 | 0.5 | 0 | 1 |" in text
    assert "Around `REW-03-1`, from step 2" in text
    assert "The answer at step 2, score 0.5:\n\n```text\nso it is five\n```" in text


def test_a_run_without_dumps_has_no_section() -> None:
    assert report_samples.section(made_runs.ALL["sick"]()) == ""


def test_hostile_answers_stay_in_their_fence() -> None:
    hostile = "</details>\n````\n# heading\n<script>alert(1)</script>\n```\n" + made_samples.HOSTILE
    tokens = MarkdownIt().parse(report_samples.section(made_samples.report("4", hostile, hostile)))
    raw = [token.content.strip() for token in tokens if token.type == "html_block"]
    assert raw == ["<details><summary>Reward hacking: what was written</summary>", "</details>"]
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    assert headings == ["h2"]
