"""The picture of a run: its size, the same bytes each time, and any text in it."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from sitegen.charts import fonts, preview
from sitegen.charts.drawing import Curve, Part, Preview
from sitegen.charts.frame import Mark, Span

STEPS = np.arange(1, 201)
RUN = Preview(
    title="GRPO on GSM8K",
    fallback="grpo-gsm8k",
    badge=("failed", "#c62828"),
    verdict="Reward hacking suspected from step 120",
    facts=("best 0.61 at step 110", "200 steps"),
    first=1,
    last=200,
    spans=(Span("warmup", 1, 20), Span("climb", 21, 119), Span("diverging", 120, 200)),
    marks=(Mark(120, "error", "REW-03", ""), Mark(124, "warning", "KL-05", "")),
    curves=(
        Curve("Score", "", "reward", STEPS, STEPS / 250),
        Curve("Reference KL", "nats/token", "kl", STEPS, np.where(STEPS > 120, 0.4, 0.02)),
    ),
)


def picture(what: Preview) -> Image.Image:
    return Image.open(io.BytesIO(preview.draw(what))).convert("RGB")


def colours(what: Preview) -> set[str]:
    found = picture(what).getcolors(1 << 21) or []
    return {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in found}


def near(colour: str, what: Preview) -> bool:
    """Whether `colour` is in the picture; few colours in the file shift each a little."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return any(
        all(abs(int(one[1 + 2 * i : 3 + 2 * i], 16) - wanted[i]) <= 8 for i in range(3))
        for one in colours(what)
    )


def test_it_has_the_size_that_unfolding_links_want_and_few_bytes() -> None:
    assert picture(RUN).size == (1200, 630)
    assert len(preview.draw(RUN)) < 60_000


def test_the_same_run_gives_the_same_bytes_and_another_others() -> None:
    first = preview.draw(RUN)
    assert preview.draw(replace(RUN, verdict="Healthy")) != first
    assert preview.draw(RUN) == first


def test_status_phases_curves_and_incidents_are_in_it() -> None:
    for colour in ("#c62828", "#f19a9a", "#80cbc4", "#1565c0", "#8424a8", "#b35009"):
        assert near(colour, RUN), colour


def test_a_run_without_steps_is_words_alone() -> None:
    bare = Preview("x", "x", ("crashed", "#8e1b1b"), "Crashed before step 1", ())
    assert near("#8e1b1b", bare) and not near("#1565c0", bare)


def test_one_step_and_the_largest_numbers_are_drawn_without_a_warning() -> None:
    one = np.array([7])
    huge = Curve("Score", "", "reward", one, np.array([1e308]))
    assert picture(replace(RUN, first=7, last=7, spans=(), marks=(), curves=(huge,))).size == (1200, 630)
    wild = Curve("KL", "", "kl", STEPS, np.where(STEPS % 2, 1e308, -1e308))
    assert picture(replace(RUN, curves=(wild, wild))).size == (1200, 630)


@pytest.mark.parametrize(
    "text",
    ["$x^2$ and \\frac{", "<b>&amp;", "a\u202eb\x07", "显存占用", "x" * 5000, "", "\U0001f600", "{{ x }}"],
)
def test_any_text_is_drawn_as_words(text: str) -> None:
    assert picture(replace(RUN, title=text, verdict=text, facts=(text,))).size == (1200, 630)


def test_shares_are_a_bar() -> None:
    whole = Preview("14 runs", "", None, "Archive", (), bar=(Part("#c62828", "3 failed", 0.75),))
    assert near("#c62828", whole)


def test_only_signs_that_matplotlib_brings_no_font_for_depend_on_the_machine() -> None:
    assert not preview.foreign(RUN)
    assert preview.foreign(replace(RUN, title="显存"))
    assert len(preview.machine()) == 16


def test_long_verdicts_take_three_lines_and_then_an_ellipsis() -> None:
    from sitegen.charts import textwidth

    lines = textwidth.lines("word " * 100, 47, 1000, 3)
    assert len(lines) == 3 and lines[-1].endswith("…")
    assert all(textwidth.pixels(line, 47) <= 1000 for line in lines)
    chinese = textwidth.lines("平均显存占用" * 30, 47, 1000, 2)
    assert len(chinese) == 2 and " " not in chinese[0]


def test_fonts_of_this_machine_are_asked_for_foreign_signs_only() -> None:
    assert fonts.bundled("Größe 0.5 – x") and not fonts.bundled("显")
