"""`/llms.txt`: what a program that reads Markdown finds on this site, and where."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.language import t
from sitegen.pages import report_md, words
from sitegen.pages.gfm import code, escape, table
from sitegen.pages.render import root
from sitegen.reports.shapes import ArchiveReport, Compared, RunReport, RunRow
from sitegen.site.addresses import Addresses

NAME = "llms.txt"
_LONGEST = 300


def document(archive: ArchiveReport, site: Addresses) -> bytes:
    """The list as Markdown: the runs, newest first, the rules, and the data."""
    return ("\n".join(_lines(archive, site)) + "\n").encode()


def _lines(archive: ArchiveReport, site: Addresses) -> Iterator[str]:
    runs = words.plural(len(archive.runs), "run")
    yield f"# {escape(site.title)}\n"
    told = t(
        "Reports on {runs} of reinforcement learning with language models, made from their logs.", runs=runs
    )
    yield f"> {told}\n"
    leads = t(
        "Each link leads to the whole report of a run as Markdown; its page is the folder of that file."
    )
    yield f"{leads}\n"
    yield f"## {t('Runs')}\n"
    for row in archive.runs:
        yield _link(site.of(f"runs/{row.id}/index.md"), row.title, _told(row))
    yield f"\n## {t('Data')}\n"
    for path, title, what in _data():
        yield _link(site.of(path), title, what)
    yield f"\n## {t('Rules')}\n"
    for view in archive.rules:
        told = " ".join(view.rule.summary.split())  # Markdown already, and a card's
        yield f"- [{view.rule.code} {escape(view.rule.title)}]({site.of(f'rules/{view.rule.code}/')}): {told}"


def _data() -> tuple[tuple[str, str, str], ...]:
    """Address, title and what is there."""
    return (
        ("api/v1/runs.json", t("all runs"), t("status, best score and facts of every run, as JSON")),
        ("api/v1/incidents.json", t("all incidents"), t("every finding of every run, as JSON")),
        ("feed.xml", t("feed"), t("the newest runs and incidents (Atom)")),
        ("feed.json", "JSON feed", t("the same as JSON Feed")),
    )


def page(report: RunReport) -> str:
    """`/runs/<run>/index.md`: the report, what was set differently from other runs, and where the data is."""
    up = root(f"runs/{report.run.id}/")
    links = (
        ("./", t("This page for people")),
        (f"{up}api/v1/runs/{report.run.id}.json", t("Verdicts, incidents and problems as JSON")),
        ("data/steps.csv", t("Every logged value as CSV")) if report.run.steps else ("", ""),
        (f"{up}{NAME}", t("All runs")),
    )
    data = f"## {t('Data')}\n\n" + "\n".join(f"- [{title}]({address})" for address, title in links if address)
    return "\n\n".join((report_md.document(report).rstrip(), *map(_set_up, report.compared), data)) + "\n"


def _set_up(other: Compared) -> str:
    title = t(
        "Set up differently from the {relation}, {title}",
        relation=t(other.relation),
        title=escape(words.clip(other.title, _LONGEST)),
    )
    rows = [
        (
            code(words.clip(row.key, _LONGEST)),
            *(code(words.clip(text or "", _LONGEST)) for text in (row.here, row.there)),
        )
        for row in other.differing
    ]
    told = (
        table((t("setting"), t("this run"), t("the other")), rows)
        if rows
        else t("Nothing that both of them log differs.")
    )
    return f"## {title}\n\n{told}"


def _told(row: RunRow) -> str:
    facts = (t(row.status), row.headline, row.model or "", row.algorithm or "")
    return t("; ").join(fact for fact in facts if fact)


def _link(address: str, title: str, what: str) -> str:
    return f"- [{escape(words.clip(title, _LONGEST))}]({address}): {escape(words.clip(what, _LONGEST))}"
