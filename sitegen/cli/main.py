"""`sitegen`: the verbs together, and what happens when one of them fails.

Exit status: 0 fine, 1 findings or problems at the asked level, 2 usage or configuration, 70 a bug of
ours, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import click

import sitegen
from sitegen.cli.screen import Screen, clean
from sitegen.errors import CardError, SitegenError

VERBS = {  # verb -> one line for --help; the module of the same name is imported when it is used
    "build": "Build the site from a folder of runs.",
    "serve": "Build, serve on this machine, rebuild when logs grow.",
    "ingest": "Read runs into the archive and say what was read.",
    "check": "Findings for runs or raw logs, without a site.",
    "report": "Write the convergence report of one run as Markdown with figures.",
    "export": "Write one run as a redacted folder that ingests again.",
    "query": "Ask the archive in SQL.",
    "rules": "The rule catalog: list, show, test, new.",
}
_BUG, _INTERRUPTED = 70, 130


class Verbs(click.Group):
    """Commands by module name, imported one at a time: `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order of a first visit."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, or None."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"sitegen.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown verb is told the nearest one."""
        from sitegen.config import nearest

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            ctx.fail(f"There is no command '{clean(args[0])}'.{nearest(args[0], tuple(VERBS))}")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(sitegen.__version__, prog_name="sitegen")
def app() -> None:
    """Reports for reinforcement-learning runs trained with verl.

    Logs in, a static site out: what happened, since when, how bad, what to do. RUNS is a folder with one
    folder per run (default `runs/`); anything verl printed or its file logger wrote will do.

    \b
      sitegen check train.log                 what is wrong with this run?
      sitegen report runs/my-run -o report.md one run as Markdown with figures
      sitegen build runs -o site              the whole archive as a site

    Results go to stdout, progress to stderr. Exit status: 0 fine, 1 findings or problems at the asked
    level or faults in cards, 2 usage or configuration.
    """  # noqa: D301  \b is click's sign for "keep these lines"


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status; never raises for what a user can cause."""
    screen = Screen()
    try:
        status = app.main(arguments, prog_name="sitegen", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SitegenError as error:
        screen.error(str(error))
        return 1 if isinstance(error, CardError) else 2
    except (KeyboardInterrupt, click.Abort):
        screen.error("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:  # whatever it is, a user gets one line that says where
        return _bug(screen, error)


def _reader_left() -> int:
    """`sitegen query … | head` is fine: be quiet, also when Python flushes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _bug(screen: Screen, error: Exception) -> int:
    if os.environ.get("SITEGEN_DEBUG") == "1":
        traceback.print_exc()
        return _BUG
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "sitegen" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    where = f"{'/'.join(Path(last.filename).parts[-2:])}:{last.lineno}"
    screen.error(
        f"this is a bug in sitegen, not in your logs: {type(error).__name__} at {where}: {error}. "
        "Set SITEGEN_DEBUG=1 for the traceback and please report it."
    )
    return _BUG
