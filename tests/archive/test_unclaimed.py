"""Files that should be logs and cannot be read as such: each says what is wrong with it, by every update."""

from __future__ import annotations

import gzip

import pytest
import zstandard

from tests.archive.conftest import Made, curve

TEXT = b"".join(b"step:%d - critic/score/mean:%d.5\n" % (i, i) for i in range(50))
RECORDS = b'{"loss": 0.5}\n{"loss": 0.25}\n'


@pytest.mark.parametrize(
    ("name", "data", "kind", "says"),
    [
        ("a.log", b"", "empty", "the file is empty"),
        ("a.jsonl", b"", "empty", "the file is empty"),
        ("a.log.gz", b"", "empty", "the file is empty"),
        ("a.log.gz", gzip.compress(b"", mtime=0), "empty", "unpacks to nothing"),
        ("a.log.gz", gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0), "unreadable", "packed twice"),
        ("a.log.gz", b"\x00\x01\x02\x03" * 100, "unreadable", "neither text nor whole gzip"),
        ("a.log.zst", b"\x00\x01\x02\x03" * 100, "unreadable", "neither text nor whole Zstandard"),
        ("a.log.gz", gzip.compress(TEXT, mtime=0)[:12], "truncated", "ends before its end mark"),
        ("a.log.zst", zstandard.compress(TEXT)[:60], "truncated", "nothing precedes"),
        ("a.jsonl", RECORDS, "no-step", "no record has a step"),
        ("a.jsonl.gz", gzip.compress(RECORDS, mtime=0), "no-step", "no record has a step"),
        ("logs.zip", b"PK\x03\x04" + b"\0" * 100, "unsupported", "not opened"),
    ],
)
def test_what_is_wrong_is_told_again_by_the_second_update(
    made: Made, name: str, data: bytes, kind: str, says: str
) -> None:
    made.file(f"b/{name}", data)
    made.jsonl("a/m.jsonl", curve(1, 3))
    for _ in range(2):
        made.update()
        (problem,) = made.last.problems
        assert (problem.path, problem.kind) == (f"b/{name}", kind)
        assert says in problem.message
        assert made.last.ignored == ()


@pytest.mark.parametrize("name", ["model.bin", "notes.cfg", "__init__.py", ".keep"])
def test_an_empty_file_that_is_no_log_is_no_problem(made: Made, name: str) -> None:
    made.file(f"a/{name}", b"")
    made.update()
    assert made.last.problems == ()
