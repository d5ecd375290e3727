"""Other detectors on the same runs: rldoctor and rlwatch, from an environment of their own.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install rldoctor rlwatch
    python -m tests.detection.peers --python /tmp/peers/bin/python

They say what is wrong with a run, not always since when, so everybody is scored by the run here: an incident
is found when a warning or more of its family was raised anywhere in the run, and a false alarm is one in a
healthy run. That flatters all three alike. Families are the first part of our codes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sitegen import rules
from sitegen.model import Severity
from tests.detection import scoring
from tests.detection.simulate import SEEDS, population
from tests.detection.trace import Trace
from tests.detection.write import file_log

#: Detector of a peer -> families of ours that it speaks about.
FAMILIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "rldoctor": {
        "advantage_collapse": ("GRP",),
        "clip_saturation": ("ACT",),
        "entropy_collapse": ("ENT",),
        "gradient_pathology": ("GRD",),
        "kl_drift": ("KL",),
        "length_pathology": ("LEN",),
        "plateau": ("REW",),
        "reward_composition": ("REW",),
        "reward_hacking": ("REW", "VAL"),
    },
    "rlwatch": {
        "entropy_collapse": ("ENT",),
        "kl_explosion": ("KL",),
        "reward_hacking": ("REW", "VAL"),
        "advantage_variance": ("GRP",),
        "loss_nan": ("GRD",),
        "gradient_norm_spike": ("GRD",),
        "reward_mean_drift": ("REW",),
    },
}

#: Run by the other Python: reads FileLogger lines, prints {peer: {run: [detector, ...]}}.
ASK = """
import json, math, sys
from pathlib import Path
from rl_doctor import diagnose, run_from_records
from rl_doctor.detectors import Severity
from rlwatch.config import RLWatchConfig
from rlwatch.detectors import DetectorSuite

NAMES = {"entropy": ("actor/entropy", "actor/entropy_loss"), "kl_divergence": ("actor/kl_loss",
    "actor/reward_kl_penalty", "critic/kl"), "reward_mean": ("critic/score/mean",), "loss": ("actor/pg_loss",
    "train/loss"), "grad_norm": ("actor/grad_norm", "train/grad_norm")}

def doctor(rows):
    records = [{"step": row["step"], **row["data"]} for row in rows]
    found = diagnose(run_from_records(records)).findings
    return [one.detector for one in found if one.severity >= Severity.WARNING]

def watch(rows):
    suite, found = DetectorSuite(RLWatchConfig()), []
    for row in rows:
        given = {}
        for key, names in NAMES.items():
            for name in names:
                if name in row["data"]:
                    value = row["data"][name]
                    given[key] = math.nan if value is None else value
        found += [one.detector for one in suite.check_step(row["step"], **given)]
    return found

said = {"rldoctor": {}, "rlwatch": {}}
for file in sorted(Path(sys.argv[1]).glob("*.jsonl")):
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for name, ask in (("rldoctor", doctor), ("rlwatch", watch)):
        try:
            said[name][file.stem] = sorted(set(ask(rows)))
        except Exception as error:
            said[name][file.stem] = [f"failed: {error}"]
print(json.dumps(said))
"""


@dataclass(slots=True)
class Tally:
    """What one tool found, by the run."""

    covered: int = 0
    injected: int = 0
    found: int = 0
    healthy: int = 0
    alarms: int = 0
    failed: int = 0

    def line(self, name: str) -> str:
        covers = f"{self.found}/{self.covered}" if self.covered else "-"
        recall = 100 * self.found / self.injected if self.injected else 0.0
        alarms = self.alarms / self.healthy if self.healthy else 0.0
        failed = f", failed on {self.failed}" if self.failed else ""
        return (
            f"{name:10} found {self.found} of {self.injected} incidents ({recall:.0f} %), "
            f"{covers} of the families it speaks about, {alarms:.2f} false alarms per healthy run{failed}"
        )


def main(words: Sequence[str] | None = None) -> int:
    """Print a line per tool."""
    parser = argparse.ArgumentParser(prog="python -m tests.detection.peers")
    parser.add_argument("--python", required=True, help="Python of an environment with rldoctor and rlwatch")
    parser.add_argument("--runs", type=int, default=1, help="seeds of every kind and trap")
    parser.add_argument("--seeds", choices=sorted(SEEDS), default="test")
    asked = parser.parse_args(words)
    first = SEEDS[asked.seeds].start
    traces = [trace for trace in population(range(first, first + asked.runs), ("medium",)) if trace.rows]
    said = {"sitegen": _ours(traces), **_theirs(asked.python, traces)}
    for name, by_run in said.items():
        sys.stdout.write(_tally(name, traces, by_run).line(name) + "\n")
    return 0


def _ours(traces: Sequence[Trace]) -> dict[str, list[str]]:
    scored = scoring.score(traces, rules.catalog())
    return {
        one.name: [each.rule for each in one.findings.incidents if each.severity >= Severity.WARNING]
        for one in scored
    }


def _theirs(python: str, traces: Sequence[Trace]) -> dict[str, dict[str, list[str]]]:
    with TemporaryDirectory() as folder:
        for trace in traces:
            (Path(folder) / f"{trace.name}.jsonl").write_text(file_log(trace), encoding="utf-8")
        answer = subprocess.run([python, "-c", ASK, folder], check=True, capture_output=True, text=True)
    said: dict[str, dict[str, list[str]]] = json.loads(answer.stdout)
    return said


def _tally(name: str, traces: Sequence[Trace], said: Mapping[str, list[str]]) -> Tally:
    tally = Tally()
    speaks = {family for each in FAMILIES.get(name, {}).values() for family in each}
    for trace in traces:
        words = said[trace.name]
        tally.failed += any(word.startswith("failed") for word in words)
        families = {
            family for word in words for family in FAMILIES.get(name, {}).get(word, (word.split("-")[0],))
        }
        if not trace.labels:
            tally.healthy += 1
            tally.alarms += len(words)
        for label in trace.labels:
            meant = {code.split("-")[0] for code in label.codes}
            tally.injected += 1
            tally.covered += name == "sitegen" or bool(meant & speaks)
            tally.found += bool(meant & families)
    return tally


if __name__ == "__main__":
    sys.exit(main())
