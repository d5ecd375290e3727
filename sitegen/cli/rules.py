"""`sitegen rules`: the catalog in the terminal, its cases, and a new card to start from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from sitegen import rules as catalogs
from sitegen.cli import options
from sitegen.cli.screen import Screen
from sitegen.config import nearest
from sitegen.errors import ConfigError
from sitegen.metrics import glossary
from sitegen.model import Rule


@click.group("rules", short_help="The rule catalog: list, show, test, new.")
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
    config = options.settings(config_file)
    rule = _find(tuple(catalogs.catalog(config.rules)), code, config_file)
    screen.line((f"{rule.code}  {rule.title}", "bold"), f"  ({_weight(rule)}, since {rule.since})")
    screen.line(rule.summary)
    screen.line("")
    screen.line("Needs: ", ", ".join(rule.needs) or "nothing but a log")
    if rule.params:
        screen.line("Parameters:")
    for said in _params(rule, config.params.get(rule.code, {})):
        screen.line(f"  {said}")
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
    catalog = catalogs.catalog([*options.settings(config_file).rules, *folders])
    codes = _codes(cards, catalog, config_file)
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


@command.command("new", short_help="Write a card to start from.")
@click.argument("code")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the card. Default: the first one under `rules:` of mkdocs.yml, else `my-rules`.",
)
@click.option("--title", default="New rule", show_default=True, help="What the rule is called, in words.")
@click.option("--metric", default="grad_norm", show_default=True, help="Metric it looks at.")
@options.config_option
def new(code: str, into: Path | None, title: str, metric: str, config_file: Path | None) -> int:
    """Write a card CODE (such as OWN-01) that loads and whose cases pass, and say what to fill in."""
    screen = Screen()
    own = options.settings(config_file).rules
    folder = into or (own[0] if own else Path("my-rules"))
    folders = [*own, *([folder] if folder.is_dir() else [])]
    name, text = catalogs.skeleton(_free(code, catalogs.catalog(folders)), _one_line(title), _metric(metric))
    file = _shown(folder) / name
    if file.exists():
        raise ConfigError(f"'{file}' exists. Choose another --title, or remove it.")
    options.save(file, text.encode())
    _say_new(screen, file, text, folder.resolve() in [one.resolve() for one in own])
    return 0


def _say_new(screen: Screen, file: Path, text: str, used: bool) -> None:
    screen.line(f"{file}: loads, and its cases pass. Fill in:")
    for number, what in catalogs.open_lines(text):
        screen.line(f"  {file}:{number}: {what}")
    screen.line(f"Then: sitegen rules test {file}")
    if used or "catalog" in file.parts:
        return
    below = f"plugins:\n  - sitegen:\n      rules: [{file.parent.as_posix()}]"
    if options.has_own_file():
        screen.line("A site uses the cards of a folder that its mkdocs.yml names. Add there:")
        screen.line(below)
        return
    screen.line("A site uses the cards of a folder that its mkdocs.yml names. None is here yet; one is:")
    screen.line(f"site_name: RL run archive\ntheme:\n  name: material\n  font: false\n{below}")
    screen.line("It wants a folder for pages of your own, too: mkdir docs")


def _free(code: str, catalog: tuple[Rule, ...]) -> str:
    """`code` as cards write it. Raises ConfigError where it is none or is taken."""
    wanted = code.upper()
    if not catalogs.CODE.fullmatch(wanted):
        raise ConfigError(
            f"'{code}' is no rule code: expected 2 to 5 letters, a dash and 2 digits, such as OWN-01."
        )
    taken = {rule.code: rule.path for rule in catalog}
    if wanted in taken:
        free = catalogs.next_free(wanted, taken)
        raise ConfigError(f"{wanted} exists: {taken[wanted]}. {free} is free.")
    return wanted


def _one_line(title: str) -> str:
    told = " ".join(title.split())
    if not told:
        raise ConfigError("--title is empty. Say in a few words what goes wrong, e.g. 'Prompts are cut'.")
    return told


def _metric(key: str) -> str:
    known = tuple(metric.key for metric in glossary().metrics)
    if key not in known:
        close = difflib.get_close_matches(key, known, 1, 0.5)
        hint = f"Did you mean '{close[0]}'?" if close else "`sitegen rules list` shows what rules look at."
        raise ConfigError(f"there is no metric '{key}'. {hint}")
    return key


def _shown(folder: Path) -> Path:
    """`folder` as seen from here, where it lies below."""
    here = Path.cwd().resolve()
    return folder.resolve().relative_to(here) if folder.resolve().is_relative_to(here) else folder


def _catalog(config_file: Path | None) -> tuple[Rule, ...]:
    return tuple(catalogs.catalog(options.settings(config_file).rules))


def _find(catalog: tuple[Rule, ...], code: str, config_file: Path | None) -> Rule:
    for rule in catalog:
        if rule.code == code.upper():
            return rule
    known = tuple(rule.code for rule in catalog)
    where = options.named(config_file)
    raise ConfigError(f"there is no rule '{code}' {where}.{_own_card(code) or nearest(code.upper(), known)}")


def _own_card(code: str) -> str:
    """What to do where a card of that code lies in a folder nearby, which nobody named; else ""."""
    if not catalogs.CODE.fullmatch(code.upper()):
        return ""
    found = sorted(
        card for depth in ("", "*/", "*/*/") for card in Path().glob(f"{depth}{code.upper()}-*.md")
    )
    if not found:
        return ""
    folder = found[0].parent.as_posix()
    return (
        f" '{found[0]}' is one, in a folder that is not named there: give the file (`sitegen rules test "
        f"{found[0]}`), or name its folder in mkdocs.yml below `plugins: - sitegen:` as `rules: [{folder}]`."
    )


def _params(rule: Rule, changed: Mapping[str, object]) -> Iterator[str]:
    """`times = 3.0 (set by this site; the card says 2.0): times its own level`."""
    for name, value in rule.params.items():
        own = f" (set by this site; the card says {value})" if name in changed else ""
        means = f": {rule.meanings[name]}" if name in rule.meanings else ""
        yield f"{name} = {changed.get(name, value)}{own}{means}"


def _weight(rule: Rule) -> str:
    words = [one.word for one in rule.severities or (rule.severity,)]
    return "phase" if rule.kind == "phase" else " to ".join(dict.fromkeys((words[0], words[-1])))


def _codes(cards: tuple[Path, ...], catalog: tuple[Rule, ...], config_file: Path | None) -> list[str] | None:
    """Codes that `cards` name; None = all."""
    if not cards:
        return None
    codes: list[str] = []
    for card in cards:
        place = card.resolve()
        if card.is_dir():
            codes += [rule.code for rule in catalog if Path(rule.path).resolve().parent == place]
        elif card.suffix == ".md":
            codes += [rule.code for rule in catalog if Path(rule.path).resolve() == place]
        else:
            codes.append(_find(catalog, str(card), config_file).code)
    if not codes:
        raise ConfigError(f"no card at {', '.join(map(str, cards))}. Give codes, card files or folders.")
    return codes
