"""What a site asks to take out is taken out of everything before it is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sitegen import archive
from sitegen.config import Redaction
from tests.archive.conftest import Made, curve

TICKET, MAIL = "ACME-12345", "help" + "@lists.example.org"
OWN = Redaction((("ticket", r"ACME-\d+"),))
KEPT = Redaction(keep_emails_of=("example.org",))


@pytest.fixture
def run(made: Made) -> Made:
    text = f"{TICKET}, ask {MAIL}"
    made.console(f"{TICKET}/train.log", [*curve(1, 6), f"ERROR worker died: {text}"])
    made.jsonl(f"{TICKET}/x.jsonl", [(s, {**v, f"m/{TICKET}": s + 0.5}) for s, v in curve(1, 6)])
    made.file(f"{TICKET}/.hydra/config.yaml", f"trainer:\n  note: '{text}'\n")
    made.file(f"{TICKET}/rollouts/1.jsonl", json.dumps({"input": text, "output": text, "score": 1}) + "\n")
    made.file(f"{TICKET}/run.toml", f'title = "{text}"\n[mute]\n"KL-05" = "{text}"\n')
    return made


def stored(home: Path) -> str:
    texts = []
    for file in sorted(home.rglob("*")):
        if file.suffix == ".parquet":
            texts.append(json.dumps(pq.read_table(file).to_pydict(), default=str))
        elif file.is_file():
            texts.append(file.read_text(errors="replace"))
    return "".join(texts)


def test_a_pattern_of_the_site_is_in_nothing_that_is_stored(run: Made) -> None:
    run.update(redaction=OWN)
    assert TICKET not in stored(run.home) and MAIL not in stored(run.home)
    (name,) = run.archive.runs()
    told = [p.message for p in run.archive.run(name).problems if p.kind == "redacted"]
    assert any("x ticket replaced by [redacted:ticket]" in message for message in told)


def test_addresses_that_may_stay_are_stored(run: Made) -> None:
    run.update(redaction=KEPT)
    assert MAIL in stored(run.home) and "[redacted:email]" not in stored(run.home)


def test_what_is_asked_anew_is_read_anew_and_only_then(run: Made) -> None:
    assert len(run.update().changed) == 1
    assert len(run.update(redaction=OWN).changed) == 1
    assert run.update(redaction=OWN).changed == ()
    assert len(run.update(redaction=KEPT).changed) == 1
    assert len(run.update().changed) == 1


def test_processes_that_read_for_this_one_redact_alike(run: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive.refresh, "SMALL", 0)
    for i in range(3):
        run.console(f"more{i}/train.log", [*curve(1, 6, shift=i), f"ERROR worker died: {TICKET}"])
    run.update(redaction=OWN, jobs=2)
    assert len(run.archive.runs()) == 4 and TICKET not in stored(run.home)
