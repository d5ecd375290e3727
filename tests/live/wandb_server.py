"""A small server on loopback that answers what W&B's package asks: GraphQL, Parquet of the history, files.

It stands for W&B's: how the package asks and what it makes of the answers is real, what the server holds is
made up here. Older rows are in Parquet files, the newest are handed out page by page, as of a run in course.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
KEY = "0" * 32 + "a1b2c3d4"


@dataclass
class Run:
    """A run on the server."""

    id: str
    name: str
    rows: list[Row] = field(default_factory=list)
    config: Mapping[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    state: str = "finished"
    beat: str = "2026-01-01T01:00:00Z"
    exported: int | None = None  # rows in Parquet files; None = all

    def node(self) -> dict[str, Any]:
        config = {key: {"value": value} for key, value in self.config.items()}
        return {
            "projectId": "12", "id": f"id-{self.id}", "tags": [], "name": self.id, "displayName": self.name,
            "sweepName": None, "state": self.state, "group": None, "jobType": None, "commit": "c" * 40,
            "config": json.dumps({**config, "_wandb": {"value": {"cli_version": "1"}}}), "readOnly": False,
            "createdAt": "2026-01-01T00:00:00Z", "heartbeatAt": self.beat, "description": "", "notes": None,
            "systemMetrics": "{}", "summaryMetrics": "{}", "historyLineCount": len(self.rows),
            "user": {"name": "Ann", "username": "ann"}, "historyKeys": {"lastStep": self.last, "keys": {}},
        }  # fmt: skip

    @property
    def last(self) -> int:
        return max((row["_step"] for row in self.rows), default=-1)


class Server:
    """Answers for the runs of one project."""

    def __init__(self, *runs: Run) -> None:
        self.runs = {run.id: run for run in runs}
        self.asked: list[str] = []  # operations and files
        self.base = ""

    def graphql(self, query: str, given: Mapping[str, Any]) -> dict[str, Any]:
        name = query.partition("{")[0].split("(")[0].split()[-1]
        self.asked.append(name)
        if name in ("Viewer", "GetDefaultEntity"):
            viewer = {"id": "1", "entity": "ent", "username": "ann", "email": "", "flags": "{}"}
            return {"viewer": {**viewer, "teams": {"edges": []}}}
        if name == "Runs":
            return {"project": self._page(given)}
        run = self.runs.get(given.get("name") or given.get("runName") or given.get("run") or "")
        if run is None:
            return {"project": {"internalId": "12", "run": None}}
        found: dict[str, Any] = run.node()
        if name == "RunParquetHistory":
            found = {"parquetHistory": self._history(run)}
        elif name == "HistoryPage":
            found = {"history": self._page_of_rows(run, given)}
        elif name == "RunFiles":
            found = {"fileCount": len(run.files), "files": self._files(run)}
        return {"project": {"internalId": "12", "run": found}}

    def _page(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Runs two by two, whatever is asked for."""
        at = int(given.get("cursor") or 0)
        some = list(self.runs.values())[at : at + 2]
        edges = [{"node": run.node(), "cursor": str(at + i + 1)} for i, run in enumerate(some)]
        more = {"endCursor": str(at + len(some)), "hasNextPage": at + 2 < len(self.runs)}
        runs = {"edges": edges, "pageInfo": more}
        return {"internalId": "12", "runCount": len(self.runs), "readOnly": False, "runs": runs}

    def _history(self, run: Run) -> dict[str, Any]:
        n = len(run.rows) if run.exported is None else run.exported
        urls = [f"{self.base}/parquet/{run.id}"] if n else []
        return {"parquetUrls": urls, "liveData": [{"_step": row["_step"]} for row in run.rows[n:]]}

    def _page_of_rows(self, run: Run, given: Mapping[str, Any]) -> list[str]:
        """Rows as JSON texts, in which numbers that are not finite are texts."""
        span = range(int(given["minStep"]), int(given["maxStep"]))
        return [json.dumps(_spelled(row)) for row in run.rows if row["_step"] in span]

    def _files(self, run: Run) -> dict[str, Any]:
        edges = [
            {
                "node": {
                    "id": name, "name": name, "url": f"{self.base}/file/{run.id}/{name}", "directUrl": "",
                    "sizeBytes": len(data), "mimetype": "text/plain", "updatedAt": "",
                    "md5": base64.b64encode(hashlib.md5(data).digest()).decode(),
                },
                "cursor": name,
            }
            for name, data in run.files.items()
        ]  # fmt: skip
        return {"edges": edges, "pageInfo": {"endCursor": "", "hasNextPage": False}}

    def get(self, path: str) -> bytes | None:
        _, kind, run, *name = unquote(path).split("/")
        self.asked.append(f"{kind} {'/'.join(name) or run}")
        if kind == "file":
            return self.runs[run].files.get("/".join(name))
        rows = self.runs[run].rows
        return parquet(rows[: self.runs[run].exported]) if kind == "parquet" else None


def _spelled(row: Row) -> Row:
    words = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return {k: words.get(repr(v), v) if isinstance(v, float) else v for k, v in row.items()}


def parquet(rows: list[Row]) -> bytes:
    """Rows as a table with a column per name."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.BytesIO()
    pq.write_table(pa.table({name: pa.array([row.get(name) for row in rows]) for name in names}), out)
    return out.getvalue()


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """Run the server; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found: dict[str, Any] = {}
            if self.path == "/graphql":
                right = base64.b64encode(f"api:{KEY}".encode()).decode() in str(self.headers["Authorization"])
                asked = json.loads(body)
                query = asked["query"].removeprefix("#graphql").strip()
                found = {"data": server.graphql(query, asked.get("variables") or {})} if right else {}
                if not right:
                    self._send(401, b'{"errors": [{"message": "no such key"}]}')
                    return
            self._send(200, json.dumps(found).encode())

        def do_GET(self) -> None:
            data = server.get(self.path.partition("?")[0])
            self._send(404 if data is None else 200, data or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.base = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    try:
        yield server.base
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
