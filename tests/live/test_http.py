"""Servers that refuse, fail, lie or send elsewhere: errors say what to do, and no credential leaves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sitegen import live
from sitegen.errors import ConfigError, LiveError
from sitegen.live import http

SECRET = "s3cr3t-of-ann"
Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], Answer]) -> Iterator[tuple[str, list[Any]]]:
    """A server on loopback, and the headers of the requests that it saw."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append(self.headers)
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _any  # noqa: N815 - names of the base class

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"mlflow+http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def always(status: int, body: object = b"", **headers: str) -> Callable[[BaseHTTPRequestHandler], Answer]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda request: (status, headers, data)


def copy(address: str, folder: Path) -> live.Copied:
    return live.copy(live.parse(address), folder / "copy", lambda line: None)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "WAITS", (0.0, 0.0))


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"message": "no"}, "MLFLOW_TRACKING_USERNAME"),
        (403, b"", "MLFLOW_TRACKING_TOKEN"),
        (404, b"<html>", "Is it the address of an MLflow server?"),
        (500, {"message": "disk full"}, "disk full"),
        (400, {"message": "BAD: token hf_" + "a1B2c3D4" * 4}, "[redacted:hf-token]"),
        (200, b"<html>Log in</html>", "something else than JSON"),
    ],
)
def test_what_a_server_refuses_is_told_with_what_to_do(
    status: int, body: object, words: str, tmp_path: Path
) -> None:
    with serving(always(status, body)) as (address, _), pytest.raises(LiveError) as told:
        copy(address, tmp_path)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LiveError, match=r"cannot reach http://127.0.0.1:9/.*Is the server running"):
        copy("mlflow+http://127.0.0.1:9", tmp_path)


def test_a_server_that_hangs_up_is_told(tmp_path: Path) -> None:
    with serving(always(200, b"{}", **{"Content-Encoding": "x"})) as (address, _):
        pass
    with pytest.raises(LiveError, match="cannot reach"):
        copy(address, tmp_path)


def test_a_short_failure_is_tried_again(tmp_path: Path) -> None:
    statuses = iter((503, 429))

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        return next(statuses, 200), {}, b'{"experiments": []}'

    with serving(answer) as (address, seen):
        assert copy(address, tmp_path) == live.Copied(0, 0)
    assert len(seen) == 3


def test_credentials_of_the_environment_go_to_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(always(200, {})) as (address, seen):
        copy(address, tmp_path)
        monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
        copy(address, tmp_path)
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ann")
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
        copy(address, tmp_path)
    assert [headers["Authorization"] for headers in seen] == [
        None,
        f"Bearer {SECRET}",
        "Basic YW5uOnMzY3IzdC1vZi1hbm4=",
    ]


def test_no_credential_is_in_a_message_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ann")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
    with serving(always(200, {})) as (address, _):
        copy(address, tmp_path)
    with serving(always(401)) as (address, _), pytest.raises(LiveError) as told:
        copy(address, tmp_path)
    assert SECRET not in str(told.value)
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert SECRET.encode() not in written and b"YW5uOnMzY3" not in written


def test_credentials_do_not_follow_to_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    with serving(always(200, {})) as (other, strangers):
        elsewhere = always(302, Location=f"{other.removeprefix('mlflow+')}/steal")
        with serving(elsewhere) as (address, _), pytest.raises(LiveError, match="Give that address instead"):
            copy(address, tmp_path)
    assert strangers == []


def test_a_page_that_comes_again_and_again_ends_the_asking(tmp_path: Path) -> None:
    with (
        serving(always(200, {"experiments": [], "next_page_token": "x"})) as (address, _),
        pytest.raises(LiveError, match="again and again"),
    ):
        copy(address, tmp_path)


def test_an_answer_without_end_ends_the_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST", 1 << 20)
    with serving(always(200, b" " * (2 << 20))) as (address, _), pytest.raises(LiveError, match="at once"):
        copy(address, tmp_path)


def hostile(request: BaseHTTPRequestHandler) -> Answer:
    """A server whose ids and names would leave the folder."""
    bad = "../../../evil"
    path = request.path.partition("?")[0]
    found: dict[str, object] = {}
    if path.endswith("experiments/search"):
        found = {"experiments": [{"experiment_id": "1", "name": "<b>"}, {"experiment_id": bad, "name": "x"}]}
    elif path.endswith("runs/search"):
        info = {
            "run_id": "a" * 32,
            "run_name": bad,
            "status": "FINISHED",
            "start_time": "no",
            "end_time": 10**30,
        }
        data = {"metrics": [{"key": bad}], "params": [{"key": bad, "value": bad}], "tags": "none"}
        found = {"runs": [{"info": {"run_id": bad}}, {"info": info, "data": data}, 7]}
    elif path.endswith("get-history"):
        row = {"key": bad, "value": "Infinity", "step": "3", "timestamp": None}
        found = {"metrics": [row, {"value": "junk"}, None]}
    elif path.endswith("artifacts/list"):
        found = {"files": [{"path": f"{bad}/val_step1.json", "file_size": 3}, {"path": "val_step1.json"}]}
    elif path.endswith("traces/search"):
        found = {"traces": [{"trace_id": bad, "state": "OK"}, {"trace_id": "tr-1", "state": "OK"}]}
    return 200, {}, json.dumps(found).encode()


def test_names_of_a_server_lead_nowhere(tmp_path: Path) -> None:
    with serving(hostile) as (address, _):
        assert copy(address, tmp_path).runs == 1
    files = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file())
    assert files == [
        "copy/mlruns.db",
        "copy/mlruns/1/" + "a" * 32 + "/artifacts/val_step1.json",
        "copy/mlruns/1/traces/tr-1/artifacts/traces.json",
    ]
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize(
    "text",
    [
        "mlflow+http://ann:s3cr3t-of-ann@host/",
        "mlflow+ftp://host/",
        "mlflow+http:///x",
        "mlflow+http://host:port/",
        "mlflow+http://host/?token=s3cr3t-of-ann",
        "wandb://entity",
        "wandb://entity/project/run/more",
        "wandb://key@entity/project",
    ],
)
def test_an_address_that_is_none_is_told_without_its_password(text: str) -> None:
    with pytest.raises(ConfigError) as told:
        live.parse(text)
    assert SECRET not in str(told.value)


def test_addresses() -> None:
    found = live.parse("mlflow+https://host:5000/prefix/#a%2Fb/run 1")
    assert (found.kind, found.server, found.wanted) == ("mlflow", "https://host:5000/prefix", "a/b/run 1")
    assert str(live.parse("mlflow+http://Host/")) == "mlflow+http://Host/"
    assert live.parse("wandb://e/p/runs/abc").wanted == "e/p/abc"
    names = {live.parse(f"mlflow+http://host/#{wanted}").name for wanted in ("", "a", "b", "a/b", "a-b")}
    assert len(names) == 5
    assert not live.is_address("runs") and not live.is_address("mlflow/http")
