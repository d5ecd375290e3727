"""A host of static files as readers meet one."""

from __future__ import annotations

import gzip
import http.server
from pathlib import Path
from typing import ClassVar

PACKED = (
    ".html",
    ".js",
    ".css",
    ".json",
    ".svg",
    ".md",
    ".xml",
)  # what hosts compress; the rest goes as it is


class Host(http.server.SimpleHTTPRequestHandler):
    """Static files as common hosts send them: texts packed, parts of files where they are asked for."""

    protocol_version = "HTTP/1.1"
    sent: ClassVar[list[int]] = []  # bytes of each answer, without its head; workers of a page ask, too

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            self.send_error(404)
            return
        body, status, headers = file.read_bytes(), 200, {"Content-Type": self.guess_type(str(file))}
        asked = self.headers.get("Range", "")
        if file.suffix in PACKED:
            body, headers["Content-Encoding"] = gzip.compress(body, 6), "gzip"
        elif asked.startswith("bytes="):
            first, last = (int(part) for part in asked[6:].split("-"))
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            body, status = body[first : last + 1], 206
        self.sent.append(len(body))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
