"""`sitegen rules`: the catalog in the terminal, and its cases."""

from __future__ import annotations

from pathlib import Path

import click

from sitegen import rules as catalogs
from sitegen.cli import options
from sitegen.cli.screen import Screen
from sitegen.config import nearest
from sitegen.errors import ConfigError
from sitegen.model import Rule


@click.group("rules", short_help="The rule catalog: list, show, test.")
def command() -> None:
    """The rules that runs are judged by. A rule is one Markdown card: prose, settings, SQL and cases."""


@command.command("list", short_help="All rules, one line each.")
@options.config_option
def list_(config_file: Path | None) -> int:
    """All rules: code, severity, title and what they need."""
    screen = Screen()
    rows = [(rule.code, _weight(rule), rule.title, ", ".join(rule.needs)) for rule in _catalog(config_file)]
    screen.table(("code", "severity", "title", "needs"), rows)
    return 0


@command.command("show", short_help="One rule: meaning, condition, advice.")
@click.argument("code")
@options.config_option
def show(code: str, config_file: Path | None) -> int:
    """One rule in full."""
    screen = Screen()
    rule = _find(_catalog(config_file), code)
    screen.line((f"{rule.code}  {rule.title}", "bold"), f"  ({rule.severity.word}, since {rule.since})")
    screen.line(rule.summary)
    screen.line("")
    screen.line("Needs: ", ", ".join(rule.needs) or "nothing but a log")
    if rule.params:
        screen.line("Parameters: ", ", ".join(f"{name} = {value}" for name, value in rule.params.items()))
    for heading, prose in rule.sections.items():
        screen.line("")
        screen.line((heading, "bold"))
        screen.line(prose.strip())
    screen.line("")
    screen.line(("Condition", "bold"))
    screen.line(rule.sql.strip())
    return 0


@command.command("test", short_help="Run the cases of the cards.")
@click.argument("cards", nargs=-1, type=click.Path(path_type=Path), metavar="[CARD…]")
@options.config_option
def test(cards: tuple[Path, ...], config_file: Path | None) -> int:
    """Run the cases of all cards, or of CARD…: codes, card files or folders. Exit 1 when one fails."""
    screen = Screen()
    folders = [card if card.is_dir() else card.parent for card in cards if card.exists()]
    catalog = catalogs.catalog([*options.settings(config_file).rules, *dict.fromkeys(folders)])
    codes = _codes(cards, catalog)
    failed = 0
    total = 0
    for result in catalogs.test(catalog, codes):
        total += 1
        if not result.passed:
            failed += 1
            screen.line(("FAIL ", "error"), f"{result.rule}  {result.name}")
            screen.line(f"     {result.message}")
    screen.line(f"{total - failed} of {total} cases pass")
    return 1 if failed else 0


def _catalog(config_file: Path | None) -> tuple[Rule, ...]:
    return tuple(catalogs.catalog(options.settings(config_file).rules))


def _find(catalog: tuple[Rule, ...], code: str) -> Rule:
    for rule in catalog:
        if rule.code == code.upper():
            return rule
    known = tuple(rule.code for rule in catalog)
    raise ConfigError(f"there is no rule '{code}'.{nearest(code.upper(), known)}")


def _weight(rule: Rule) -> str:
    return "phase" if rule.kind == "phase" else rule.severity.word


def _codes(cards: tuple[Path, ...], catalog: tuple[Rule, ...]) -> list[str] | None:
    """Codes that `cards` name; None = all."""
    if not cards:
        return None
    codes: list[str] = []
    for card in cards:
        if card.is_dir():
            codes += [rule.code for rule in catalog if Path(rule.path).parent.name == card.name]
        elif card.suffix == ".md":
            codes += [rule.code for rule in catalog if Path(rule.path).name == card.name]
        else:
            codes.append(_find(catalog, str(card)).code)
    if not codes:
        raise ConfigError(f"no card at {', '.join(map(str, cards))}. Give codes, card files or folders.")
    return codes
