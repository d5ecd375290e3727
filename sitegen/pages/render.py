"""What a page function needs from outside: a renderer, and where the site root is."""

from __future__ import annotations

from typing import Protocol

from sitegen.language import t
from sitegen.model import Page, Run
from sitegen.reports.visible import defused


class Render(Protocol):
    """Renders a template to HTML; StrictUndefined and autoescape are the caller's duty."""

    def __call__(self, template: str, /, **context: object) -> str: ...


def root(path: str) -> str:
    """Way from the page `path` ("runs/x/") to the site root: "../../"; "" for home."""
    return "../" * path.count("/")


def fragment(render: Render, template: str, path: str, **context: object) -> str:
    """HTML of `template` with `root` set, so that the site works below any path."""
    return render(template, root=root(path), **context)


def page(
    render: Render,
    template: str,
    path: str,
    *,
    title: str,
    description: str,
    kind: str,
    search: bool = True,
    filters: tuple[tuple[str, str], ...] = (),
    **context: object,
) -> Page:
    """A Page whose HTML is `template` rendered with `context`, its title included."""
    html = fragment(render, template, path, title=title, **context)
    return Page(path, defused(title), defused(description), html, search, kind, filters)


def below(render: Render, run: Run, kind: str, *, title: str, summary: str, **context: object) -> Page:
    """`/runs/<run>/<kind>/`, a page below that of a run, out of the template of that name."""
    path = f"runs/{run.id}/{kind}/"
    named = t("{what} of {run}", what=title, run=run.title)
    html = fragment(render, f"{kind}.html", path, title=named, run=run, summary=summary, **context)
    description = t("A choice of {summary}.", summary=summary)
    return Page(path, defused(named), defused(description), html, kind=kind)
