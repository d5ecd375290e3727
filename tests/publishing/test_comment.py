"""The comment on a pull request: one, kept up to date, by a script that talks to a server playing GitHub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

TOKEN = "t0ken-of-the-job"
MARK = "<!-- sitegen: check -->"


@dataclass
class Hub:
    """Comments of one pull request, and what was asked."""

    comments: list[dict[str, object]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refuse: dict[str, int] = field(default_factory=dict)  # method -> status
    url: str = ""

    def add(self, body: str, kind: str = "Bot") -> None:
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"type": kind}})


class GitHub(BaseHTTPRequestHandler):
    """The three endpoints that the script knows; anything else is 404, and a wrong token 401."""

    hub: Hub

    def _body(self) -> dict[str, str]:
        body: dict[str, str] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, status: int, document: object) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        if status in (301, 302):
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _serve(self) -> None:
        place = urlsplit(self.path)
        self.hub.asked.append(f"{self.command} {self.path}")
        body = self._body() if self.command in ("POST", "PATCH") else {}
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self._answer(401, {})
        if self.command in self.hub.refuse:
            return self._answer(self.hub.refuse[self.command], {})
        if place.path == "/api/v3/repos/team/runs/issues/7/comments":
            if self.command == "GET":
                asked = parse_qs(place.query)
                size, page = int(asked["per_page"][0]), int(asked["page"][0])
                return self._answer(200, self.hub.comments[(page - 1) * size : page * size])
            self.hub.add(body["body"])
            return self._answer(201, self.hub.comments[-1])
        folder, _, number = place.path.rpartition("/")
        if self.command == "PATCH" and folder == "/api/v3/repos/team/runs/issues/comments":
            self.hub.comments[int(number) - 1]["body"] = body["body"]
            return self._answer(200, {})
        return self._answer(404, {})

    do_GET = do_POST = do_PATCH = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    found = Hub()
    handler = type("Handler", (GitHub,), {"hub": found})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}/api/v3"
        yield found
        server.shutdown()


def run(
    repo: Path, place: Path, hub: Hub, text: str = "## 1 run checked\n", **more: str
) -> subprocess.CompletedProcess[str]:
    (place / "comment.md").write_text(text, "utf-8")
    if not (place / "event.json").exists():
        (place / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    environment = {
        "PATH": os.environ["PATH"],
        "GITHUB_API_URL": hub.url,
        "GITHUB_REPOSITORY": "team/runs",
        "GITHUB_EVENT_PATH": str(place / "event.json"),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
        "GITHUB_TOKEN": TOKEN,
        **more,
    }
    script = repo / ".github/actions/comment/comment.py"
    command = [sys.executable, str(script), str(place / "comment.md")]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_the_first_time_it_is_posted_and_then_updated_in_place(repo: Path, hub: Hub, tmp_path: Path) -> None:
    hub.add("Nice work!", "User")
    assert run(repo, tmp_path, hub, "one\n").stdout == "posted the comment on #7\n"
    hub.add("Thanks.", "User")
    assert run(repo, tmp_path, hub, "two\n").stdout == "updated the comment on #7\n"
    assert [one["body"] for one in hub.comments] == ["Nice work!", f"{MARK}\ntwo\n", "Thanks."]


def test_the_same_words_are_not_sent_again(repo: Path, hub: Hub, tmp_path: Path) -> None:
    run(repo, tmp_path, hub, "one\n")
    hub.asked.clear()
    assert run(repo, tmp_path, hub, "one\n").stdout == "unchanged the comment on #7\n"
    assert [asked.split()[0] for asked in hub.asked] == ["GET"]


def test_it_is_found_among_hundreds(repo: Path, hub: Hub, tmp_path: Path) -> None:
    for _ in range(230):
        hub.add("talk", "User")
    run(repo, tmp_path, hub, "one\n")
    for _ in range(100):
        hub.add("talk", "User")
    run(repo, tmp_path, hub, "two\n")
    assert len(hub.comments) == 331
    assert hub.comments[230]["body"] == f"{MARK}\ntwo\n"


def test_a_person_who_writes_the_marker_is_left_alone(repo: Path, hub: Hub, tmp_path: Path) -> None:
    hub.add(f"{MARK}\nmine", "User")
    run(repo, tmp_path, hub, "one\n")
    assert [one["body"] for one in hub.comments] == [f"{MARK}\nmine", f"{MARK}\none\n"]


def test_a_comment_of_another_bot_that_may_not_be_changed_is_not_the_end(
    repo: Path, hub: Hub, tmp_path: Path
) -> None:
    hub.add(f"{MARK}\nof another bot")
    hub.refuse = {"PATCH": 403}
    assert run(repo, tmp_path, hub, "one\n").stdout == "posted the comment on #7\n"


def test_two_names_are_two_comments(repo: Path, hub: Hub, tmp_path: Path) -> None:
    run(repo, tmp_path, hub, "one\n")
    run(repo, tmp_path, hub, "two\n", COMMENT_NAME="night --> ly")
    assert [str(one["body"]).splitlines()[0] for one in hub.comments] == [
        MARK,
        "<!-- sitegen: night-----ly -->",
    ]


def test_from_a_fork_it_is_in_the_summary_and_the_step_passes(repo: Path, hub: Hub, tmp_path: Path) -> None:
    hub.refuse = {"POST": 403}
    done = run(repo, tmp_path, hub, "one\n")
    assert done.returncode == 0
    assert done.stdout.startswith("::warning::POST /repos/team/runs/issues/7/comments: 403")
    assert "pull-requests: write" in done.stdout
    assert (tmp_path / "summary.md").read_text() == "one\n"


def test_a_server_in_trouble_fails_the_step_without_a_trace(repo: Path, hub: Hub, tmp_path: Path) -> None:
    hub.refuse = {"GET": 502}
    done = run(repo, tmp_path, hub)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error::GET /repos/team/runs/issues/7/comments")
    hub.url = "http://127.0.0.1:9"
    assert run(repo, tmp_path, hub).stdout.startswith("::error::GitHub cannot be reached")


def test_the_token_follows_no_redirect_and_is_never_printed(repo: Path, hub: Hub, tmp_path: Path) -> None:
    hub.refuse = {"GET": 302}
    done = run(repo, tmp_path, hub)
    assert done.returncode == 1 and "302" in done.stdout
    assert TOKEN not in done.stdout + done.stderr


def test_a_push_has_no_pull_request_and_that_is_no_fault(repo: Path, hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text("{}")
    assert run(repo, tmp_path, hub).returncode == 0
    assert hub.asked == []


def steps(repo: Path) -> list[dict[str, object]]:
    action = yaml.safe_load((repo / ".github/actions/comment/action.yml").read_text("utf-8"))
    found: list[dict[str, object]] = action["runs"]["steps"]
    return found


def test_no_input_is_part_of_a_command(repo: Path) -> None:
    assert [step for step in steps(repo) if "${{" in str(step.get("run", ""))] == []


@pytest.mark.parametrize(("fail_on", "status"), [("never", "0"), ("error", "1")])
def test_the_step_that_checks_writes_the_comment_and_keeps_the_verdict(
    repo: Path, tmp_path: Path, fail_on: str, status: str
) -> None:
    """The step's own script, in bash, on runs whose folder has a blank in its name."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    run_folder = tmp_path / "my runs" / "bad"
    run_folder.mkdir(parents=True)
    lines = "".join(f"step:{n} - critic/score/mean:0.5\n" for n in range(1, 30))
    (run_folder / "train.log").write_text(lines + "torch.OutOfMemoryError: CUDA out of memory.\n")
    script = next(str(step["run"]) for step in steps(repo) if step.get("id") == "check")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(repo),
        "PATHS": "my runs\n\n",
        "BASELINE": "",
        "SITE_ADDRESS": "https://team.example/archive",
        "FAIL_ON": fail_on,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "output").read_text() == f"status={status}\n"
    text = (tmp_path / "sitegen-comment.md").read_text()
    assert text.startswith("## 1 run checked: 1 crashed")
    assert "](https://team.example/archive/runs/bad/#RUN-01-1)" in text
