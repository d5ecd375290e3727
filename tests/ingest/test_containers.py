"""Console output inside notebooks and Markdown."""

from __future__ import annotations

import json

import pytest

from sitegen.ingest import console, markdown, notebook
from tests.ingest.reading import reading

RAY = "\x1b[36m(main_task pid=5)\x1b[0m "


def cell(*outputs: dict[str, object], source: str = "!python -m verl.trainer.main_ppo") -> dict[str, object]:
    return {"cell_type": "code", "source": [source], "outputs": list(outputs), "metadata": {}}


def stream(text: str, whole: bool = False) -> dict[str, object]:
    return {
        "output_type": "stream",
        "name": "stdout",
        "text": text if whole else text.splitlines(keepends=True),
    }


def saved(*cells: dict[str, object], indent: int | None = 1, ascii_only: bool = True) -> str:
    book = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=indent, ensure_ascii=ascii_only)


LOG = f"{RAY}step:1 - actor/lr:0.5\n{RAY}step:2 - actor/lr:0.25 - val/模型:1.0\n"


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("indent", [1, None])
def test_the_outputs_of_a_notebook_are_read(indent: int | None, whole: bool, ascii_only: bool) -> None:
    text = saved(cell(stream(LOG, whole)), indent=indent, ascii_only=ascii_only)
    assert notebook.sniff("x", text.encode())
    found = reading(text, notebook)
    assert found.rows == [(1, {"actor/lr": 0.5}), (2, {"actor/lr": 0.25, "val/模型": 1.0})]
    assert found.problems == []


def test_line_numbers_are_those_of_the_notebook_file() -> None:
    text = saved(cell(stream("hello\n")), cell(stream(LOG)))
    found = reading(text, notebook)
    lines = text.split("\n")
    assert ["step:1" in lines[found.lines[0] - 1], "step:2" in lines[found.lines[1] - 1]] == [True, True]


def test_code_is_not_read() -> None:
    text = saved(
        cell(source="print('step:1 - actor/lr:0.5')"),
        {"cell_type": "markdown", "source": ["step:1 - actor/lr:0.5\n"]},
    )
    found = reading(text, notebook)
    assert (found.rows, found.config) == ([], {})


def test_an_error_output_is_a_traceback() -> None:
    trace = [
        "\x1b[31mTraceback (most recent call last)\x1b[0m:",
        '  File "a.py", line 3, in f',
        "ValueError: bad",
    ]
    error = {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": trace}
    found = reading(saved(cell(stream("step:1 - actor/lr:0.5\n"), error)), notebook)
    assert [(line.kind, line.level) for line in found.log] == [("traceback", "error")]


def test_displayed_text_is_read() -> None:
    shown = {
        "output_type": "display_data",
        "data": {"text/plain": ["step:3 - actor/lr:0.5"], "image/png": "xx"},
    }
    assert reading(saved(cell(shown)), notebook).rows == [(3, {"actor/lr": 0.5})]


def test_a_record_does_not_go_on_across_two_outputs() -> None:
    found = reading(saved(cell(stream("step:1 - actor/lr:0.5\n"), stream("- actor/kl:0.5\n"))), notebook)
    assert found.rows == [(1, {"actor/lr": 0.5})]


def test_pieces_of_one_output_are_one_text() -> None:
    output = {"output_type": "stream", "text": ["step:1 - actor/", "lr:0.5\n", "step:2 - actor/lr:0.5"]}
    assert reading(saved(cell(output)), notebook).rows == [(1, {"actor/lr": 0.5}), (2, {"actor/lr": 0.5})]


def test_a_notebook_that_only_draws_says_that_no_cell_trained() -> None:
    (problem,) = reading(
        saved(cell(stream("<Figure size 640x480>\n"), source="plt.show()")), notebook
    ).problems
    assert (problem.kind, problem.message) == ("empty", "no cell has output of a training")


def test_an_old_notebook_keeps_its_cells_in_worksheets() -> None:
    text = json.dumps({"worksheets": [{"cells": [cell(stream(LOG))]}], "nbformat": 3, "cell_type": 0})
    assert reading(text, notebook).steps == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": [',
        "[1, 2]",
        '{"cells": 3, "nbformat": 4}',
        '{"cells": [null, {"outputs": [1, {"text": 5}]}]}',
    ],
)
def test_a_broken_notebook_is_a_problem_or_empty_never_an_exception(text: str) -> None:
    found = reading(text, notebook)
    assert found.rows == []


def test_a_torn_notebook_says_where() -> None:
    (problem,) = reading(saved(cell(stream(LOG)))[:-40], notebook).problems
    assert problem.kind == "malformed"
    assert problem.line is not None


@pytest.mark.parametrize("text", ['{"step": 1}', "step:1 - actor/lr:0.5", '{"name": "cell_type"}'])
def test_other_files_are_no_notebooks(text: str) -> None:
    assert not notebook.sniff("x.ipynb", text.encode())


# --- Markdown ------------------------------------------------------------------------------

PASTE = (
    f"# Run\n\nIf you see CUDA out of memory. Tried to allocate 2 GiB: lower.\n\n```bash\n{LOG}```\n\nDone.\n"
)


def test_a_fenced_log_is_read_with_lines_of_the_page() -> None:
    assert markdown.sniff("x", PASTE.encode())
    found = reading(PASTE, markdown)
    assert found.steps == [1, 2]
    assert found.lines == [6, 7]


def test_prose_around_a_log_is_no_diagnosis() -> None:
    assert reading(PASTE, markdown).log == []


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("~~~\nstep:1 - actor/lr:0.5\n~~~\n", id="tildes"),
        pytest.param("````\n```\nstep:1 - actor/lr:0.5\n```\n````\n", id="fence_in_fence"),
        pytest.param("    step:1 - actor/lr:0.5\n", id="indented"),
        pytest.param("> step:1 - actor/lr:0.5\n", id="quoted"),
        pytest.param("`step:1 - actor/lr:0.5`\n", id="inline"),
        pytest.param("step:1 - actor/lr:0.5\n", id="bare"),
        pytest.param("<details>\n\n```\nstep:1 - actor/lr:0.5\n```\n\n</details>\n", id="folded"),
        pytest.param("```\nstep:1\n - actor/lr:0.5\n```\n", id="one_metric_per_line"),
    ],
)
def test_any_way_to_paste_is_read(block: str) -> None:
    assert reading(f"# Run\n\n{block}\n", markdown).rows == [(1, {"actor/lr": 0.5})]


def test_a_log_that_starts_with_a_heading_is_no_markdown() -> None:
    text = "# ~60 GB memory\ncommand:\n```bash\nbash run.sh\n```\n\nstep:0 - train/loss:0.5\n"
    assert not markdown.sniff("x", text.encode())
    assert console.sniff("x", text.encode())


def test_generated_markdown_inside_a_log_does_not_make_it_a_page() -> None:
    text = f"{RAY}hello\n{RAY}# Step 1\n{RAY}```python\nprint(1)\n{RAY}step:1 - actor/lr:0.5\n"
    assert not markdown.sniff("x", text.encode())


@pytest.mark.parametrize(
    "text", ["# Title\n\nprose\n", "# T\n\n```python\nimport x\n```\n", "```\nstep 1: do\n```\n"]
)
def test_pages_without_a_log_are_left_alone(text: str) -> None:
    assert not markdown.sniff("README.md", text.encode())
    assert not console.sniff("README.md", text.encode())
