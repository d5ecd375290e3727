"""A source opens regular files only, unpacks them, and hands out UTF-8."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from sitegen.ingest import source as module
from sitegen.ingest.source import Source, SourceRefused, SourceTooLarge, blocks


def made(folder: Path, name: str, data: bytes) -> Source:
    file = folder / name
    file.write_bytes(data)
    return Source(name, file)


def content(source: Source) -> bytes:
    with source.open() as stream:
        return stream.read()


def test_plain_bytes_come_back_as_they_are(tmp_path: Path) -> None:
    assert content(made(tmp_path, "a.log", b"one\ntwo\n")) == b"one\ntwo\n"


def test_head_is_short_when_the_file_is(tmp_path: Path) -> None:
    source = made(tmp_path, "a.log", b"one\ntwo\n")
    assert source.head(3) == b"one"
    assert source.head(100) == b"one\ntwo\n"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_files_are_found_by_content_not_by_name(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    assert (
        content(made(tmp_path, "train.log", pack(b"step:1 - a/b:1\n" * 1000))) == b"step:1 - a/b:1\n" * 1000
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_members_one_after_the_other_are_one_file(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    assert content(made(tmp_path, "a.gz", pack(b"one\n") + pack(b"two\n"))) == b"one\ntwo\n"


def test_zero_padding_between_gzip_members_is_skipped(tmp_path: Path) -> None:
    packed = gzip.compress(b"one\n") + b"\0" * 512 + gzip.compress(b"two\n") + b"\0" * 512
    source = made(tmp_path, "a.gz", packed)
    assert content(source) == b"one\ntwo\n"
    assert source.notes == []


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_torn_tail_keeps_what_precedes_and_is_noted(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    text = b"".join(b"line %d %d\n" % (i, i * 7919 % 10007) for i in range(60_000))
    packed = pack(text)
    source = made(tmp_path, "a.gz", packed[: len(packed) * 3 // 4])
    kept = content(source)
    assert text.startswith(kept) and len(kept) > len(text) // 3
    assert [problem.kind for problem in source.notes] == ["truncated"]


def test_damaged_gzip_data_is_noted(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(os.urandom(4000)))
    packed[2000:2100] = b"\xff" * 100
    source = made(tmp_path, "a.gz", bytes(packed))
    content(source)
    assert [problem.kind for problem in source.notes] == ["truncated"]


def summed(text: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


@pytest.mark.parametrize(("pack", "size"), [(gzip.compress, 8), (summed, 4)])
def test_a_wrong_check_sum_takes_nothing_from_the_content(tmp_path: Path, pack, size: int) -> None:  # type: ignore[no-untyped-def]
    text = b"".join(b"line %d\n" % i for i in range(500))
    source = made(tmp_path, "a.gz", pack(text)[:-size] + b"\x01" * size)
    assert content(source) == text
    assert [problem.kind for problem in source.notes] == ["truncated"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "MAX_EXPANDED", 1 << 20)
    with pytest.raises(SourceTooLarge, match="unpacks to more than"):
        content(made(tmp_path, "bomb.gz", pack(b"\0" * (4 << 20))))


def test_a_log_that_packs_well_is_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EXPANDED", 1 << 20)
    text = b"".join(b"step:%d - a/b:%d.5\n" % (i, i * 31 % 977) for i in range(200_000))
    assert content(made(tmp_path, "a.gz", gzip.compress(text))) == text


def test_a_utf8_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert content(made(tmp_path, "a.jsonl", b"\xef\xbb\xbf{}\n")) == b"{}\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_becomes_utf8(tmp_path: Path, encoding: str) -> None:
    text = "step:1 - critic/score/mean:0.5 \u5956\u52b1\n" * 3
    assert content(made(tmp_path, "a.log", text.encode(encoding))).decode() == text


def test_a_file_that_grows_is_read_up_to_its_size_when_listed(tmp_path: Path) -> None:
    source = made(tmp_path, "a.log", b"one\ntwo\n")
    limited = Source("a.log", source.file, 4)
    assert content(limited) == b"one\n"


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceRefused, match="not a regular file"):
        Source("pipe", tmp_path / "pipe").open()


def test_a_file_that_vanished_raises_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        Source("gone.log", tmp_path / "gone.log").open()


def test_blocks_number_lines_across_block_borders(tmp_path: Path) -> None:
    source = made(tmp_path, "a.log", b"".join(b"%d\n" % i for i in range(1, 101)) + b"tail")
    with source.open() as stream:
        found = list(blocks(stream, 16))
    numbered = [(number + i, line) for number, lines, _ in found for i, line in enumerate(lines)]
    assert numbered == [(i, b"%d" % i) for i in range(1, 101)] + [(101, b"tail")]
    assert [whole for *_, whole in found][-1] is False


def test_a_line_too_long_to_hold_is_handed_out_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 50)
    source = made(tmp_path, "a.log", b"one\n" + b"x" * 500 + b"\ntwo\n")
    told: list[int] = []
    with source.open() as stream:
        found = [
            (n + i, line) for n, lines, _ in blocks(stream, 16, told.append) for i, line in enumerate(lines)
        ]
    assert found == [(1, b"one"), (2, b""), (3, b"two")]
    assert told == [2]
