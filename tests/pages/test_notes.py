"""Notes by people as shown: safe, beside what they explain, with the fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.pages import prose, report_md
from sitegen.pages.gfm import quoted
from sitegen.reports.shapes import Compared, Difference, NoteView, RunReport
from tests.pages import made_runs, rendered
from tests.pages.rendered import Outline

ROWS = (
    Difference("actor.kl_loss_coef", "0.0", "0.04"),
    Difference("trainer.experiment_name", "one", "two"),
)
FIX = Compared("successor", "second-try", "The second <try>", ROWS, ())


def noted(*notes: NoteView) -> RunReport:
    return replace(made_runs.sick(), notes=notes)


def on(anchor: str, text: str = "The checker **leaks**.", fixed: Compared | None = FIX) -> NoteView:
    return NoteView(anchor, f"math/{anchor or 'notes'}.md", text, fixed.run if fixed else None, fixed)


def card(html: str, anchor: str) -> str:
    return html[html.index(f'id="{anchor}"') :].split("</article>")[0]


def test_a_note_stands_in_the_card_of_its_incident() -> None:
    worst = made_runs.sick().incidents[0].anchor
    html = rendered.page(noted(on(worst))).html
    assert not Outline(html).faults
    shown = card(html, worst)
    assert "The checker <strong>leaks</strong>." in shown
    assert '<a href="../../runs/second-try/">The second &lt;try&gt;</a>' in shown
    assert "<code>actor.kl_loss_coef</code>" in shown
    assert "1 setting, 1 name or path left out" in shown and "experiment_name" not in shown


def test_the_top_of_the_page_leads_to_the_notes_and_to_the_fix() -> None:
    worst = made_runs.sick().incidents[0].anchor
    html = rendered.page(noted(on(""), on(worst))).html
    top = html[html.index("Explained by people:") :].split("</p>")[0]
    assert '<a href="#notes">the run</a>' in top and f'<a href="#{worst}">{worst}</a>' in top
    assert top.count("Fixed by") == 1
    assert Outline(html).ids.count("notes") == 1


def test_the_same_fix_is_told_at_length_once() -> None:
    worst = made_runs.sick().incidents[0].anchor
    html = rendered.page(noted(on(""), on(worst))).html
    assert "<details" in card(html, worst) and '<details class="sg-fold" open' not in card(html, worst)
    assert "open><summary>What was set differently there" in html


def test_a_note_on_no_incident_of_the_run_is_shown_with_those_on_the_run() -> None:
    html = rendered.page(noted(on("ZZZ-99-1"))).html
    section = html[html.index('id="notes"') :]
    assert "On ZZZ-99-1, which this run does not have" in section
    assert "The checker <strong>leaks</strong>." in section


def test_a_successor_that_is_not_there_is_said_and_not_linked() -> None:
    lost = NoteView("", "math/notes.md", "x", "<b>nowhere", None)
    html = rendered.page(noted(lost)).html
    assert "<code>&lt;b&gt;nowhere</code>, which is no other run of this archive" in html


def test_the_successor_says_what_it_fixed() -> None:
    html = rendered.page(replace(made_runs.sick(), mends=(("bad-run", "A <bad> run"),))).html
    assert '<b>This run fixed</b> <a href="../../runs/bad-run/">A &lt;bad&gt; run</a>' in html


def test_without_notes_nothing_is_said_of_them() -> None:
    html = rendered.made("sick").html
    assert "Explained by people" not in html and 'id="notes"' not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=https://tracker.example/x.png onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://tracker.example/pixel.png)",
        "[![x](https://tracker.example/pixel.png)](https://example.org)",
        '<https://example.org/"onmouseover=alert(1)>',
        "[a]: javascript:alert(1)\n\n[a]",
        "{{ 7 * 7 }} {% raw %}",
        "`</code><script>`",
        "<details open ontoggle=alert(1)>",
        "| a |\n|---|\n| <b onclick=x> |",
    ],
)
def test_nothing_in_a_note_acts_or_loads(text: str) -> None:
    html = str(prose.note(text))
    found = Outline(html)
    assert not found.faults
    assert not {"script", "img", "iframe", "details", "b"} & set(found.tags)
    assert not [link for link in found.links if not link.startswith("https://")]
    assert html.count("<a ") == html.count('rel="nofollow noopener"')
    assert "49" not in html


def test_headings_of_a_note_stay_below_those_of_the_page() -> None:
    html = str(prose.note("# One\n\n###### Six\n\nTwo\n---\n"))
    assert html == "<h4>One</h4>\n<h6>Six</h6>\n<h5>Two</h5>\n"


def test_tables_lists_and_code_are_read() -> None:
    html = str(prose.note("| a |\n|---|\n| b |\n\n* *x* `y`"))
    assert {"table", "ul", "code", "em"} <= set(Outline(html).tags)


def test_the_report_quotes_notes_beside_their_incidents() -> None:
    worst = made_runs.sick().incidents[0].anchor
    text = report_md.document(noted(on(""), on(worst)))
    assert "## Explained by people" in text
    section = text[text.index(f"### {worst}") :]
    assert "> The checker **leaks**." in section.split("### ")[1]
    assert "| `actor.kl_loss_coef` | `0.0` | `0.04` |" in section


def test_a_quotation_is_inert_and_code_in_it_whole() -> None:
    assert quoted("<b>x</b> @team ![p](https://t.example/p.png) `a<b @c`") == (
        "> &lt;b>x&lt;/b> &#64;team !\\[p](https://t.example/p.png) `a<b @c`"
    )
    assert quoted("a\n\n```py\nx < 1\n```\nb <i>") == "> a\n>\n> ```py\n> x < 1\n> ```\n> b &lt;i>"
    assert quoted("```\nopen") == "> ```\n> open\n> ```"
