"""Packed folders under RUNS: unpacked within limits, never out of their place."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import zstandard

from sitegen import archive
from sitegen.archive import tar, unpack
from tests.archive.conftest import Made, kinds

LOG = b"".join(
    b"step:%d - critic/score/mean:0.%d21 - actor/grad_norm:1.%d37\n" % (i, i, i) for i in range(1, 7)
)
Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.zst": zstandard.ZstdCompressor().compress,
}


def tarred(files: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    entries = [(tarfile.TarInfo(name), data) for name, data in files.items()]
    return written(entries, form)


def written(entries: list[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for entry, data in entries:
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry, b""


def file(name: str, data: bytes = LOG) -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


@pytest.mark.parametrize("ending", PACKS)
def test_a_packed_folder_is_read_as_if_it_were_one(made: Made, ending: str) -> None:
    made.file(f"team/first{ending}", PACKS[ending](tarred({"whatever/train.log": LOG})))
    run = made.run("team-first")
    assert (run.path, run.title, run.steps, run.project) == ("team/first", "first", 6, "team")
    assert [source.path for source in run.sources] == [f"team/first{ending}/train.log"]
    assert run.problems == () and made.last.problems == () and made.last.ignored == ()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_form_of_tar_is_read_with_long_names_and_odd_letters(made: Made, form: int) -> None:
    long = "/".join(["a" * 60] * 3)
    names = [f"x/{long}/train.log"] if form == tarfile.USTAR_FORMAT else [f"x/{long}{'b' * 150}/实验.log"]
    made.file("r.tar", tarred(dict.fromkeys(names, LOG), form))
    (run,) = made.ids()
    assert made.archive.run(run).steps == 6
    assert made.archive.run(run).sources[0].path == f"r.tar/{names[0].removeprefix('x/')}"


def test_a_folder_of_runs_may_be_packed(made: Made) -> None:
    other = LOG.replace(b"0.", b"0.9")
    made.file("all.tar.zst", PACKS[".tar.zst"](tarred({"runs/a/t.log": LOG, "runs/b/t.log": other})))
    assert made.ids() == ["all-a", "all-b"]


def test_a_packed_file_may_be_looked_at_alone(made: Made) -> None:
    place = made.file("one.tar.gz", gzip.compress(tarred({"one/train.log": LOG})))
    archive.update(place, made.home)
    assert made.archive.runs() == ("one",)


def test_one_that_did_not_change_is_not_unpacked_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    place = made.file("one.tar", tarred({"train.log": LOG}))
    made.file("other/train.log", LOG.replace(b"0.", b"0.9"))
    made.update()
    with monkeypatch.context() as patch:
        patch.setattr(unpack, "entries", lambda stream: pytest.fail("unpacked again"))
        assert made.update().changed == ()
        made.file("other/train.log", LOG.replace(b"0.", b"0.8"))
        assert made.update().changed == ("other",)
    place.write_bytes(tarred({"train.log": LOG + LOG.replace(b"step:", b"step:1")}))
    assert made.update().changed == ("one",)
    place.unlink()
    assert made.update().removed == ("one",) and not list((made.home / "packed").iterdir())


def test_it_is_unpacked_again_when_it_has_to_be_read_again(made: Made) -> None:
    made.file("one.tar", tarred({"train.log": LOG}))
    made.update()
    shutil.rmtree(made.home / "archive")
    assert made.update().changed == ("one",) and made.run("one").steps == 6


def test_a_file_that_comes_beside_it_is_compared_with_what_it_holds(made: Made) -> None:
    made.file("x/one.tar", tarred({"logs/train.log": LOG}))
    made.update()
    made.file("x/train.log", LOG)
    assert made.ids() == ["x"] and len(made.run("x").sources) == 2


def test_nothing_of_it_stays_when_the_update_is_over(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = made.home.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    made.file("one.tar", tarred({"train.log": LOG}))
    made.update()
    assert list(temporary.iterdir()) == []
    assert [each.suffix for each in (made.home / "packed").iterdir()] == [".json"]


def test_names_that_print_alike_stay_two_files(made: Made) -> None:
    secrets = [f"hf_{'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH'}{i}" for i in range(2)]
    other = LOG.replace(b"0.", b"0.9")
    made.file("x.tar", tarred({f"{secrets[0]}.log": LOG, f"{secrets[1]}.log": other}))
    assert len(made.ids()) == 2


def test_a_folder_beside_it_of_the_same_name_is_another_run(made: Made) -> None:
    made.file("one.tar", tarred({"train.log": LOG}))
    made.file("one/train.log", LOG)
    assert len(made.ids()) == 2 and "one" in made.archive.runs()


HOSTILE = {
    "up": "../out.log",
    "deep": "a/../../out.log",
    "absolute": "/tmp/out.log",
    "backslash": "..\\out.log",
    "drive": "C:/out.log",
    "control": "a\nb.log",
    "endless": "a" * 300,
    "too deep": "a/" * 600 + "x.log",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_that_leads_out_is_refused_and_the_rest_is_read(made: Made, name: str) -> None:
    made.file("x.tar", written([file(name), file("train.log")]))
    assert made.run("x").steps == 6
    assert kinds(made.last.problems) == ["refused"]
    outside = list(made.home.parent.rglob("out.log"))
    assert outside == [] and not Path("/tmp/out.log").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_out_of_it_is_told_and_nothing_goes_through_it(made: Made, kind: bytes) -> None:
    made.file("secret/secret.txt", b"secret")
    entries = [
        link("way", "/etc", kind),
        link("up", "../../../..", kind),
        file("way/passwd"),
        file("train.log"),
    ]
    made.file("x.tar", written(entries))
    assert made.run("x").steps == 6
    assert [(p.kind, p.message[:8]) for p in made.last.problems] == [("refused", "2 links ")]


def test_a_link_to_what_it_holds_is_nothing_to_tell(made: Made) -> None:
    entries = [
        file("wandb/run-1/output.log"), link("wandb/latest", "run-1"),
        link("wandb/hard.log", "wandb/run-1/output.log", tarfile.LNKTYPE),
    ]  # fmt: skip
    made.file("x.tar", written(entries))
    made.update()
    assert made.last.problems == ()


def test_devices_are_refused(made: Made) -> None:
    entries = [link("pipe", "", tarfile.FIFOTYPE), link("disk", "", tarfile.BLKTYPE), file("train.log")]
    made.file("x.tar", written(entries))
    assert made.run("x").steps == 6 and kinds(made.last.problems) == ["refused"]


def test_one_name_for_a_file_and_a_folder(made: Made) -> None:
    made.file("x.tar", written([file("train.log"), file("train.log/x.log"), file("train.log")]))
    assert made.run("x").steps == 6 and kinds(made.last.problems) == ["refused"]


def test_an_archive_in_an_archive_stays_closed(made: Made) -> None:
    made.file("x.tar", tarred({"train.log": LOG, "inner.tar": tarred({"train.log": LOG})}))
    assert made.ids() == ["x"]
    assert [(p.path, p.kind) for p in made.last.problems] == [("x.tar/inner.tar", "unsupported")]


def test_a_bomb_is_refused_and_nothing_of_it_stays(made: Made) -> None:
    bomb = zstandard.ZstdCompressor().compress(tarred({"a.log": bytes(300 << 20), "b.log": LOG}))
    made.file("x.tar.zst", bomb)
    assert made.ids() == [] and kinds(made.last.problems) == ["too-large"]


def test_more_than_a_run_can_hold_is_refused(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MAX_BYTES", 1000)
    made.file("x.tar", tarred({"train.log": LOG * 10}))
    assert made.ids() == [] and kinds(made.last.problems) == ["too-large"]


def test_too_many_files_are_refused(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MAX_ENTRIES", 3)
    made.file("x.tar", tarred({f"{i}.log": LOG for i in range(4)}))
    assert made.ids() == [] and kinds(made.last.problems) == ["too-large"]


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst"])
def test_of_a_torn_one_what_precedes_is_read_and_told(made: Made, ending: str) -> None:
    noise = random.Random(1).randbytes(200_000)
    data = PACKS[ending](tarred({"train.log": LOG, "noise.bin": noise}))
    made.file(f"x{ending}", data[: len(data) // 2])
    assert made.run("x").steps == 6
    assert [p.kind for p in made.last.problems if p.path == f"x{ending}"] == ["truncated"]


def test_damage_in_the_middle_is_told(made: Made) -> None:
    data = bytearray(tarred({"train.log": LOG, "other.log": LOG}, tarfile.USTAR_FORMAT))
    data[1024 + 10] ^= 0xFF  # in the header of the second
    made.file("x.tar", bytes(data))
    assert made.run("x").steps == 6 and kinds(made.last.problems) == ["truncated"]


def test_an_endless_extended_header_is_refused(made: Made) -> None:
    entry = tarfile.TarInfo("path")
    entry.type = tarfile.XHDTYPE
    made.file("x.tar", written([file("train.log"), (entry, bytes(tar.MAX_HEADER + 1))], tarfile.USTAR_FORMAT))
    assert made.run("x").steps == 6 and kinds(made.last.problems) == ["truncated"]


def test_what_is_only_called_so_is_a_file_like_any_other(made: Made) -> None:
    made.file("a/train.tar.gz", gzip.compress(LOG))
    assert made.run("a").steps == 6


def test_a_secret_in_a_name_is_taken_out(made: Made) -> None:
    secret = "hf" + "_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5"
    made.file("x.tar", tarred({f"{secret}.log": LOG}))
    made.update()
    assert "redacted" in kinds(made.last.problems)
    assert secret not in (made.home / "manifest.json").read_text()
