"""Readers against what the official packages write: `python -m tests.crosscheck PYTHON [TRACKER…]`.

PYTHON is an interpreter of another environment with some of mlflow (or mlflow-skinny, sqlalchemy, alembic),
trackio, swanlab and clearml. They are large and slow to install, so the tests write these formats by hand,
and this says whether the packages still write them so.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from sitegen import ingest
from sitegen.archive import discovery, walk
from tests.ingest.reading import Reading, gathered

RECORDS = [
    (0, {"val-core/gsm8k/acc/mean@4": "0.25"}),
    (1, {"actor/grad_norm": "0.1", "actor/lr": "1e-06", "critic/score/mean": "-3.0000000000000004"}),
    (2, {"actor/grad_norm": "nan", "actor/lr": "5e-324", "critic/score/mean": "inf"}),
    (3, {"actor/grad_norm": "1e308", "actor/lr": "0.0", "critic/score/mean": "-inf"}),
    (2, {"actor/grad_norm": "7.5", "actor/lr": "2e-06", "critic/score/mean": "0.5"}),
    (3, {"actor/grad_norm": "8.5", "actor/lr": "3e-06", "critic/score/mean": "0.75"}),
]
FORMATS = {
    "mlflow_db": "mlflow", "mlflow_files": "mlflow-files", "trackio": "trackio", "swanlab": "swanlab",
    "clearml": "clearml",
}  # fmt: skip
Value = tuple[int, str, str]


def written(tracker: str) -> Counter[Value]:
    """What a tracker keeps of RECORDS."""
    found: Counter[Value] = Counter()
    for step, row in RECORDS:
        for name, text in row.items():
            if tracker == "swanlab" and any(key[:2] == (step, name) for key in found):
                continue  # the first of a step is kept
            odd = text in ("nan", "inf", "-inf")
            found[(step, name, "0.0" if odd and tracker == "clearml" else repr(float(text)))] += 1
    return found


def values(reading: Reading) -> Counter[Value]:
    """What a reader found, finite or not."""
    finite = ((step, name, repr(value)) for step, row in reading.rows for name, value in row.items())
    return Counter([*finite, *reading.odd])


def read(folder: Path, form: str) -> Reading:
    """Of the folder and its zip, which ClearML leaves both, the first."""
    found = discovery.discover(folder, walk.walk(folder), {}, {}, {})
    sources = [each.source for run in found.runs for each in run.inputs if each.format == form]
    return gathered(ingest.by_name(form).read(sources[0]))


def check(python: str, tracker: str) -> str:
    """ "" when all is well, else what differs."""
    with tempfile.TemporaryDirectory(prefix="sitegen-crosscheck-") as folder:
        command = [python, str(Path(__file__).with_name("write.py")), tracker, folder]
        done = subprocess.run(command, input=json.dumps(RECORDS), capture_output=True, text=True)
        if done.returncode:
            return f"the package did not write it: {done.stderr.strip().splitlines()[-1]}"
        reading = read(Path(folder), FORMATS[tracker])
    expected, found = written(tracker), values(reading)
    faults = [f"lacks {sorted((expected - found).elements())}"] if expected - found else []
    faults += [f"has too much {sorted((found - expected).elements())}"] if found - expected else []
    if reading.config.get("trainer.logger") != "['console']":
        faults.append(f"settings {sorted(reading.config.items())[:5]}")
    if reading.facts.get("experiment") != "grpo-7b" or reading.facts.get("project") != "crosscheck":
        faults.append(f"facts {reading.facts}")
    return "; ".join(faults)


def main(arguments: list[str]) -> int:
    python, *trackers = arguments
    faults = {tracker: check(python, tracker) for tracker in trackers or FORMATS}
    for tracker, fault in faults.items():
        sys.stdout.write(f"{tracker:<14} {fault or 'as the package wrote it'}\n")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
