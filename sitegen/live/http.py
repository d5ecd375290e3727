"""JSON over HTTP with the standard library: pages, retries, and errors that say what to do."""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlencode, urlsplit

from sitegen.errors import LiveError
from sitegen.redact import redact

TIMEOUT = 60  # seconds without a byte
WAITS = (0.5, 2.0)  # seconds before another try
LARGEST = 256 << 20  # bytes of an answer
_AGAIN = {429, 500, 502, 503, 504}
_CHUNK = 1 << 20
Query = Mapping[str, object]
_CREDENTIALS = (
    "Set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN, in the environment."
)


class NotFound(LiveError):  # noqa: N818 - what the server says
    """The server knows nothing under that address."""


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects within the server only: credentials go nowhere else."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            place = f"{new.scheme}://{new.hostname}"
            raise LiveError(
                f"{_place(req.full_url)} sends everybody on to {place}. Give that address instead."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Client:
    """Asks one server. Credentials come from the environment and go to that server only."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._headers = {"Accept": "application/json", **_authorization()}
        self._opener = urllib.request.build_opener(_SameServer)

    def get(self, path: str, query: Query) -> dict[str, object]:
        """The object that a GET answers with. Raises LiveError."""
        return self._object(self._request(path, query, None))

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, object]:
        """The object that a POST answers with. Raises LiveError."""
        return self._object(self._request(path, {}, body))

    def pages(
        self, path: str, key: str, query: Query, body: Mapping[str, object] | None = None
    ) -> Iterator[list[object]]:
        """The lists under `key` of all pages, with POST where there is a body. Raises LiveError."""
        token = ""
        seen: set[str] = set()
        while True:
            more = {"page_token": token} if token else {}
            answer = self.get(path, {**query, **more}) if body is None else self.post(path, {**body, **more})
            found = answer.get(key)
            yield found if isinstance(found, list) else []
            token = str(answer.get("next_page_token") or "")
            if not token:
                return
            if token in seen:
                raise LiveError(f"{_place(self._server)} hands out the same page again and again ({path}).")
            seen.add(token)

    def save(self, path: str, file: Path, query: Query) -> None:
        """Write an answer to a file, under another name until it is whole. Raises LiveError."""
        data = self._answer(self._request(path, query, None))
        file.parent.mkdir(parents=True, exist_ok=True)
        made = file.with_name(f".{file.name}.part")
        made.write_bytes(data)
        made.replace(file)

    def _request(self, path: str, query: Query, body: Mapping[str, object] | None) -> urllib.request.Request:
        asked = urlencode(query, doseq=True)
        url = f"{self._server}/{quote(path)}" + (f"?{asked}" if asked else "")
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers if data is None else {**self._headers, "Content-Type": "application/json"}
        return urllib.request.Request(url, data, headers)  # noqa: S310 - `parse` admits http and https only

    def _object(self, request: urllib.request.Request) -> dict[str, object]:
        try:
            found = json.loads(self._answer(request))
        except (ValueError, RecursionError) as error:
            raise LiveError(
                f"{_place(request.full_url)} answered with something else than JSON (a page to log in?). "
                f"Expected the REST API of MLflow. {_CREDENTIALS}"
            ) from error
        return found if isinstance(found, dict) else {}

    def _answer(self, request: urllib.request.Request) -> bytes:
        for wait in (*WAITS, None):
            try:
                with self._opener.open(request, timeout=TIMEOUT) as answer:
                    return _bounded(answer, request)
            except urllib.error.HTTPError as error:
                with error:
                    if wait is None or error.code not in _AGAIN:
                        raise _refused(request, error) from None
            except (OSError, http.client.HTTPException) as error:
                if wait is None:
                    raise _unreachable(request, error) from None
            time.sleep(wait)
        raise AssertionError("the last try returns or raises")


def _authorization() -> dict[str, str]:
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    user, password = (os.environ.get(f"MLFLOW_TRACKING_{name}") for name in ("USERNAME", "PASSWORD"))
    if user and password:
        packed = base64.b64encode(f"{user}:{password}".encode()).decode()
        return {"Authorization": f"Basic {packed}"}
    return {"Authorization": f"Bearer {token}"} if token else {}


def _bounded(answer: IO[bytes], request: urllib.request.Request) -> bytes:
    data = bytearray()
    while chunk := answer.read(_CHUNK):
        data += chunk
        if len(data) > LARGEST:
            raise LiveError(f"{_place(request.full_url)} answers with more than {LARGEST >> 20} MB at once.")
    return bytes(data)


def _place(url: str) -> str:
    """Server and path of a URL: what it asks for may be long."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _refused(request: urllib.request.Request, error: urllib.error.HTTPError) -> LiveError:
    place = _place(request.full_url)
    said = _said(error)
    if error.code in (401, 403):
        return LiveError(f"{place} wants other credentials (status {error.code}{said}). {_CREDENTIALS}")
    if error.code == 404:
        return NotFound(f"{place} is not there (status 404{said}). Is it the address of an MLflow server?")
    if error.code in _AGAIN:
        return LiveError(
            f"{place} fails (status {error.code}{said}). Try again later: what was copied stays."
        )
    return LiveError(
        f"{place} refuses (status {error.code}{said}). Check the address and the server's version."
    )


def _said(error: urllib.error.HTTPError) -> str:
    """What the server says is wrong: one line, without secrets."""
    try:
        found = json.loads(error.read(1 << 16))
        text = str(found["message"]).split("\n")[0][:300]
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException, RecursionError):
        return ""
    return f": {redact(text)[0]}" if text else ""


def _unreachable(request: urllib.request.Request, error: Exception) -> LiveError:
    reason = getattr(error, "reason", None) or error
    why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return LiveError(
        f"cannot reach {_place(request.full_url)}: {why}. Is the server running, and is the address right? "
        "What was copied before stays."
    )
