"""What can go wrong, in one tree.

    SitegenError                 printed without a traceback, exit status 2
    ├── ConfigError              mkdocs.yml, run.toml or a command line asks for something that does not exist
    ├── CardError                unusable rule or leaderboard cards, with every fault; exit status 1
    ├── ArchiveError             the archive folder cannot be read, written or locked
    ├── LiveError                a tracker's server cannot be reached, refuses, or answers with something else
    └── QueryError               `sitegen query` was given SQL that does not run

A `Problem` is not an exception: it describes what could not be read, is stored with the run
and shown on the site, and never stops a build.
"""

from __future__ import annotations

from dataclasses import dataclass


class SitegenError(Exception):
    """Base of every error that a user can act on.

    The message says where, what was expected and what to do.
    """


class ConfigError(SitegenError):
    """A setting, a run.toml or a command line is wrong."""


class CardError(SitegenError):
    """Cards that cannot be used; the message has one `path:line: fault` per line."""


class ArchiveError(SitegenError):
    """The archive folder cannot be read, written or locked."""


class LiveError(SitegenError):
    """A tracker's server cannot be reached, refuses, or answers with something else than was expected."""


class QueryError(SitegenError):
    """SQL given to `sitegen query` does not run."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read or was changed while reading.

    Args:
        path: file as shown to people, relative to RUNS, with `/`.
        line: 1-based line, or None when the whole file is meant.
        kind: one lower-case word such as `truncated`, `unreadable`, `redacted`, `unsupported`.
        message: what was found and what was expected.
        hint: what to do about it; may be empty.
    """

    path: str
    line: int | None
    kind: str
    message: str
    hint: str = ""
