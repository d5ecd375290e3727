"""Post a file as the one comment of its name on the pull request of this workflow, or update it.

What GitHub sets is read from the environment: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH,
GITHUB_TOKEN, GITHUB_STEP_SUMMARY. Needs Python and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

PAGE = 100  # comments in one answer
PAGES = 30
TIMEOUT_S = 30


class RefusedError(Exception):
    """GitHub said no."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token goes nowhere else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def ask(method: str, path: str, body: object = None) -> object:
    """What the API answers. Raises RefusedError."""
    request = urllib.request.Request(
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "Content-Type": "application/json",
            "User-Agent": "sitegen",
        },
    )
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise RefusedError(error.code, f"{method} {path}: {error.code} {error.reason}") from None


def number(event: dict[str, object]) -> int | None:
    """Number of the pull request that the event is about."""
    for key in ("pull_request", "issue"):
        about = event.get(key)
        if isinstance(about, dict) and isinstance(about.get("number"), int):
            return int(about["number"])
    return None


def ours(issue: str, marker: str) -> Iterator[dict[str, object]]:
    """Comments of a bot that begin with `marker`, oldest first."""
    for page in range(1, PAGES + 1):
        found = ask("GET", f"{issue}/comments?per_page={PAGE}&page={page}")
        assert isinstance(found, list)
        for one in found:
            if str(one["body"]).startswith(marker) and one["user"]["type"] == "Bot":
                yield one
        if len(found) < PAGE:
            return


def post(repository: str, pull: int, marker: str, text: str) -> str:
    """`posted`, `updated` or `unchanged`. Raises RefusedError."""
    issue = f"/repos/{repository}/issues/{pull}"
    body = f"{marker}\n{text}"
    for one in ours(issue, marker):
        if str(one["body"]).replace("\r\n", "\n").rstrip() == body.rstrip():
            return "unchanged"
        try:
            ask("PATCH", f"/repos/{repository}/issues/comments/{one['id']}", {"body": body})
            return "updated"
        except RefusedError as error:
            if error.status not in (403, 404):  # of another bot, or removed since
                raise
    ask("POST", f"{issue}/comments", {"body": body})
    return "posted"


def main(file: str) -> int:
    """Exit status: 0 also where this token may not comment, which is said."""
    text = Path(file).read_text("utf-8")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(text)
    pull = number(json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8")))
    if pull is None:
        print("no pull request: the comment is in the summary of this job")
        return 0
    name = re.sub(r"[^\w.-]", "-", os.environ.get("COMMENT_NAME") or "check")
    try:
        said = post(os.environ["GITHUB_REPOSITORY"], pull, f"<!-- sitegen: {name} -->", text)
    except RefusedError as error:
        if error.status not in (401, 403, 404):
            print(f"::error::{error}")
            return 1
        hint = "The job needs `permissions: pull-requests: write`, which one from a fork cannot have."
        print(f"::warning::{error}. {hint}")
        return 0
    except (urllib.error.URLError, TimeoutError) as error:
        print(f"::error::GitHub cannot be reached: {error}")
        return 1
    print(f"{said} the comment on #{pull}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
