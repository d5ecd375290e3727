"""Secrets of every kind, planted in every source: none is in the archive or in the built site."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sitegen import archive as archives
from sitegen.archive import Archive
from tests.ingest import (
    events,
    mlflow,
    swan,
    test_clearml,
    test_trackio,
    test_weave_calls,
    traced,
    wandb_files,
)  # fmt: skip
from tests.ingest.traced import Spoken
from tests.site.conftest import build

HEX40 = "0123456789abcdef" * 2 + "01234567"
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5"
LETTERS = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"

# What must not be found -> how it stands in a text.
PLANTED = {
    "hf" + "_" + MIXED: "load {}",
    "sk" + "-proj-" + MIXED: "use {}",
    "sk-" + "ant-api03-" + MIXED: "use {}",
    "AKIA" + "IOSFODNN7EXAMPLE": "aws {}",
    "gh" + "p_" + MIXED: "clone {}",
    "gl" + "pat-" + MIXED[:20]: "clone {}",
    "AI" + "za" + MIXED[:35]: "maps {}",
    "xo" + "xb-123456789012-" + MIXED[:20]: "post {}",
    HEX40: "wandb login {}",
    "pa55" + "word-in-url": "https://jane:{}@proxy.lab:3128/x",
    "hunter" + "2-assigned": "DB_PASSWORD={}",
    "hunter" + "3-typed": "run --password {} now",
    MIXED[::-1]: "Authorization: Bearer {}",
    LETTERS: "-----BEGIN RSA PRIVATE" + " KEY-----\n{}\n-----END RSA PRIVATE" + " KEY-----",
    "jane.doe" + "@lab.example.org": "mail {}",
}
SETTINGS = {f"trainer.note{i}": text.format(secret) for i, (secret, text) in enumerate(PLANTED.items())}
BY_NAME = {"trainer.api_key": "k" + MIXED[1:], "reward.db_password": "hunter" + "4-setting"}
CONFIG = SETTINGS | BY_NAME
NEEDLES = (*PLANTED, *BY_NAME.values())
TEXT = "\n".join(SETTINGS.values())
ONE_LINERS = [text for text in SETTINGS.values() if "\n" not in text]
ONE_LINE = " ".join(ONE_LINERS)
MAIL, TOKEN = "jane.doe" + "@lab.example.org", "hf" + "_" + MIXED
STEPS = [(step, {"critic/score/mean": 0.1 + step * 0.037}) for step in range(1, 7)]


def nested() -> dict[str, dict[str, str]]:
    tree: dict[str, dict[str, str]] = {}
    for key, text in CONFIG.items():
        section, name = key.split(".")
        tree.setdefault(section, {})[name] = text
    return tree


def _console() -> str:
    rows = "".join(f"step:{n} - critic/score/mean:{v['critic/score/mean']:.4f}\n" for n, v in STEPS)
    typed = " ".join(f"{key}='{text}'" for key, text in CONFIG.items() if "\n" not in text)
    command = f"+ python -m verl.trainer.main_ppo {typed}\n"
    trouble = "".join(f"ERROR worker died: {line}\n" for line in TEXT.splitlines())
    raised = f"Traceback (most recent call last):\nRuntimeError: {ONE_LINE}\n"
    return f"{command}{nested()!r}\n{rows}{trouble}{raised}"


def write(folder: Path, name: str, data: bytes | str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)


def plant(runs: Path) -> None:
    """A run of each source that can hold a text."""
    steps = dict(STEPS)
    jsonl = "".join(json.dumps({"step": n, "data": v}) + "\n" for n, v in STEPS)
    write(runs, "console/train-a.log", _console())
    write(runs, "hydra/x.jsonl", jsonl)
    write(runs, "hydra/.hydra/config.yaml", "".join(f"{k}: {json.dumps(v)}\n" for k, v in nested().items()))
    write(
        runs,
        "hydra/.hydra/overrides.yaml",
        "".join(f"- {json.dumps(f'{k}={v}')}\n" for k, v in CONFIG.items()),
    )
    write(
        runs,
        "names/x.jsonl",
        json.dumps({"step": 1, "data": {f"{t} a": 0.5 for t in SETTINGS.values()}}) + "\n",
    )
    write(runs, "wandb/run-20260101_000000-abc/run-abc.wandb", wandb_files.framed(
        wandb_files.config(17, **nested()), wandb_files.config(**nested()),
        *(wandb_files.history(n, **v) for n, v in STEPS),
        *(wandb_files.printed(f"ERROR {line}\n") for line in TEXT.splitlines()),
    ))  # fmt: skip
    write(runs, "wandb/run-20260101_000000-abc/files/wandb-metadata.json", json.dumps({
        "os": "Linux", "python": "3.11", "startedAt": "2026-01-01T00:00:00Z", "program": "main_ppo.py",
        "executable": "python", "args": list(SETTINGS.values()),
        "git": {"remote": SETTINGS["trainer.note9"], "commit": "c" * 40}, "email": MAIL,
    }))  # fmt: skip
    (runs / "mlflow").mkdir()
    params = {key.replace(".", "/"): text for key, text in CONFIG.items()}
    tags = {"mlflow.source.git.repoURL": SETTINGS["trainer.note9"], "mlflow.note.content": TEXT,
            "mlflow.user": MAIL}  # fmt: skip
    mlflow.database(
        runs / "mlflow/mlruns.db", mlflow.Kept("r1", f"grpo {TOKEN}", STEPS, params, tags),
        mlflow.Kept("r2", f"{MAIL}", [(n, {"critic/score/mean": n * 0.41}) for n in range(1, 7)]),
    ).close()  # fmt: skip
    swanlab = "".join(f"{k}:\n  desc: ''\n  sort: 0\n  value: {json.dumps(v)}\n" for k, v in nested().items())
    write(runs, "swanlab/run-20260101_000000-abc/run-abc.swanlab", swan.log([
        swan.start(f"p {TOKEN}", f"n {MAIL}", "abc"), *swan.steps(steps),
        *(swan.printed(f"ERROR {line}") for line in TEXT.splitlines()), swan.finish(2, TEXT),
    ]))  # fmt: skip
    write(runs, "swanlab/run-20260101_000000-abc/files/config.yaml", swanlab)
    (runs / "trackio").mkdir()
    trackio = test_trackio.project(runs / "trackio/p.db", {TOKEN: STEPS, f"b {MAIL}": [(1, {"a": 0.3})]})
    row = (TOKEN, "N", json.dumps(nested()), "2026-01-01T00:00:00+00:00")
    trackio.execute("INSERT INTO configs (run_id, run_name, config, created_at) VALUES (?, ?, ?, ?)", row)
    trackio.commit()
    trackio.close()
    task = test_clearml.TASK | {
        "name": f"n {TOKEN}",
        "configuration": {"Hyperparameters": {"value": json.dumps(nested())}},
        "hyperparams": {"General": {key: {"value": text} for key, text in CONFIG.items()}},
        "script": {"repository": SETTINGS["trainer.note9"], "version_num": "c" * 40},
    }
    values = [[test_clearml.scalar(n, "critic/score/mean", v["critic/score/mean"])] for n, v in STEPS]
    for name, data in test_clearml.files(*values, log=f"ERROR {TEXT}", task=task).items():
        write(runs, f"clearml/{name}", data)
    write(runs, "csv/x.csv", "step," + ",".join(f'"{text}"' for text in ONE_LINERS) + "\n"
          + "".join(f"{n}" + ",0.5" * len(ONE_LINERS) + "\n" for n in range(1, 4)))  # fmt: skip
    scalars = [(n, text[:80]) for n, _ in STEPS for text in SETTINGS.values()]
    write(runs, "tensorboard/events.out.tfevents.1700000000.h.1.0", events.file(
        *(events.event(n, events.scalar(name, n * 0.3)) for n, name in scalars)
    ))  # fmt: skip
    out = {"output_type": "stream", "name": "stdout", "text": _console().splitlines(keepends=True)}
    cell = {"cell_type": "code", "source": [TEXT], "outputs": [out]}
    write(runs, "notebook/x.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    write(runs, "markdown/x.md", f"# Run\n\n```\n{_console()}```\n")
    write(runs, "answers/x.jsonl", jsonl)
    record = {"input": TEXT, "output": TEXT, "score": 0.5, "step": 1, "gts": TEXT, "api_key": "k" + MIXED[1:]}
    write(runs, "answers/rollout/1.jsonl", json.dumps(record | {"extra": {"note": TEXT}}) + "\n")
    write(runs, "answers/validation/1.jsonl", json.dumps({**record, TOKEN: 1, f"by {MAIL}": [TEXT]}) + "\n")
    spans = [
        Spoken("ToolAgentLoop.run", 1, None, inputs=TEXT, outputs={"answer": TEXT}),
        Spoken(f"{TOKEN}.execute", 2, 1, 0.1, 0.2, {"parameters": nested()}, [{"text": TEXT}, 0.5], TEXT,
               attributes={f"at {MAIL}": TEXT, "request": {"headers": CONFIG}, "odd": json.dumps(CONFIG)},
               events=[{"name": "exception", "attributes": {"exception.stacktrace": TEXT}}]),
        Spoken(f"ask {MAIL}", 3, 2, type=TOKEN),
    ]  # fmt: skip
    agent = mlflow.database(runs / "agent/mlruns.db")
    traced.add(agent, traced.Rollout(f"tr-{TOKEN}", spans, experiment=f"agent {MAIL}", metadata={"m": TEXT}))
    agent.close()
    write(runs, "filed/x.jsonl", jsonl)
    traced.artifact(runs / "filed", traced.Rollout("tr-" + "0" * 32, spans, experiment=TOKEN), tags=True)
    write(runs, f"filed/traces/tr-{'0' * 32}/tags/note", TEXT)
    write(runs, "tables/x.jsonl", jsonl)
    columns = ["step", "input_1", "output_1", "score_1"]
    table = {"columns": columns, "data": [[1, TEXT, TEXT, 0.5]], "ncols": 4, "nrows": 1}
    write(runs, "tables/media/table/val/generations_1_0a1b2c.table.json", json.dumps(table))
    write(runs, "tables/val_step1.json", json.dumps([{"input": TEXT, "output": TEXT, "score": 0.5}]))
    operation = test_trackio.operation(
        f"{TOKEN}.execute", error="RuntimeError", inputs=CONFIG, output=nested(), **{f"by {MAIL}": TEXT},
        messages=[{"role": "user", "content": TEXT}],
    )  # fmt: skip
    rollouts = test_trackio.project(runs / "trackio/rollouts.db", {"a": STEPS})
    test_trackio.traced(rollouts, operation, operation | {"status": "success"})
    rollouts.close()
    called = test_weave_calls.call(
        "c1", f"{TOKEN}.execute", inputs=CONFIG, output=TEXT, exception=TEXT, display_name=MAIL,
        attributes=test_weave_calls.ABOUT | {"experiment_name": f"w {MAIL}", "note": TEXT, TOKEN: nested()},
    )  # fmt: skip
    write(runs, "weave/calls.jsonl", json.dumps(called) + "\n")
    store = "mlstore/mlruns/7/abc"
    write(runs, "mlstore/mlruns/7/meta.yaml", f"experiment_id: '7'\nname: math {MAIL}\n")
    write(runs, f"{store}/meta.yaml", "run_id: abc\nexperiment_id: '7'\nlifecycle_stage: active\n"
          f"artifact_uri: https://jane:{'pa55' + 'word-in-url'}@store/x\nrun_name: 'n {TOKEN}'\n"
          "start_time: 1767225600000\n")  # fmt: skip
    write(runs, f"{store}/metrics/{TOKEN}", "1767225600000 0.5 1\n1767225601000 0.25 2\n")
    for i, (key, text) in enumerate(CONFIG.items()):
        write(runs, f"{store}/params/{key.replace('.', '/')}", text)
        write(runs, f"{store}/tags/note{i}", text)
    write(runs, f"{store}/tags/mlflow.source.git.repoURL", SETTINGS["trainer.note9"])
    write(runs, "seed/logs/metrics/m.jsonl", "".join(
        json.dumps({"step": n, "reward_mean": 0.1 * n, "note": TEXT, TOKEN: 0.5}) + "\n" for n in range(1, 5)
    ))  # fmt: skip
    write(runs, "seed/logs/debug/d.log", "".join(
        f"[DEBUG] step={n} grad_norm_actor={n}.5 {text}\n[ERROR] {text}\n"
        for n, text in enumerate(ONE_LINERS)
    ))  # fmt: skip
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, data in (
            (f"r/{TOKEN}.log", _console()),
            (f"r/rollouts/{MAIL}.jsonl", jsonl),
            (f"../{TOKEN}", ""),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(data.encode())
            tar.addfile(entry, io.BytesIO(data.encode()))
    write(runs, f"{TOKEN}.tar.gz", gzip.compress(packed.getvalue()))
    write(runs, "toml/x.jsonl", jsonl)
    said = {"title": f"t {TOKEN}", "owner": MAIL, "notes": TEXT, "project": f"p {TOKEN}"}
    said |= {"hardware": ONE_LINE, "experiment": MAIL, "model": f"m {TOKEN}", "baseline": MAIL}
    lines = "".join(f"{k} = {json.dumps(v)}\n" for k, v in said.items())
    mute = f"[mute]\n{json.dumps(TOKEN)} = {json.dumps(ONE_LINE)}\n"
    write(runs, "toml/run.toml", f"{lines}tags = [{json.dumps(TOKEN)}]\n{json.dumps(MAIL)} = 1\n{mute}")
    write(runs, "removed.toml", f'[[run]]\nid = "gone"\ndate = "2026-01-01"\nwhy = {json.dumps(ONE_LINE)}\n')
    write(runs, f"{MAIL}/{TOKEN}.log", _console())
    write(runs, f"none/{TOKEN}.bin", b"\x00\x01 nothing")


def _contents(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of every file below a folder, unpacked."""
    for at, _, names in os.walk(folder):
        for name in names:
            file = Path(at) / name
            data = file.read_bytes()
            if name.endswith(".parquet"):
                yield str(file), json.dumps(pq.read_table(file).to_pydict(), default=str, ensure_ascii=False)
                yield f"{file} (columns)", " ".join(pq.read_schema(file).names)
            elif data[:2] == b"\x1f\x8b":
                yield str(file), gzip.decompress(data).decode("utf-8", "replace")
            yield str(file), f"{name}\n" + data.decode("utf-8", "replace")


def leaks(folder: Path) -> list[tuple[str, str]]:
    """(file, what stands before a planted secret that is in it)."""
    hits = []
    for name, text in _contents(folder):
        plain = text.replace("&#43;", "+").replace("&#39;", "'").replace("\\u0040", "@").replace("&#64;", "@")
        for secret in NEEDLES:
            if (place := plain.find(secret)) >= 0:
                hits.append((name.removeprefix(str(folder)), plain[max(0, place - 60) : place + 20]))
    return hits


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("planted")
    (made / "runs").mkdir()
    plant(made / "runs")
    archives.update(made / "runs", made / "home", jobs=1)
    return made


def test_none_is_in_the_archive(place: Path) -> None:
    assert leaks(place / "home") == []


def test_every_source_was_read_and_says_how_many_were_taken_out(place: Path) -> None:
    archive = Archive(place / "home")
    runs = [archive.run(run) for run in archive.runs()]
    read = {form for run in runs for form in run.formats}
    assert read >= {
        "console", "hydra", "filelogger", "wandb", "wandb-files", "mlflow", "swanlab", "trackio", "clearml",
        "csv", "tensorboard", "notebook", "markdown", "generations", "mlflow-traces", "mlflow-files",
        "seed-metrics", "seed-debug", "weave", "sample-table",
    }  # fmt: skip
    told = {p.path.split("/")[0] for run in runs for p in run.problems if p.kind == "redacted"}
    told |= {p.path.split("/")[0] for p in archive.problems() if p.kind == "redacted"}
    assert told >= {
        "console", "hydra", "names", "wandb", "mlflow", "swanlab", "trackio", "clearml", "csv", "tensorboard",
        "notebook", "markdown", "answers", "toml", "[redacted:email]", "agent", "filed", "mlstore", "seed",
        "weave", "tables", "[redacted:hf-token].tar.gz",
    }  # fmt: skip


def test_none_is_in_the_built_site(place: Path) -> None:
    build(place)
    assert (place / "site" / "index.html").is_file()
    assert leaks(place / "site") == []
