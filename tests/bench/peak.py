"""Work in a child process whose memory is watched, its children included."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

INTERVAL_S = 0.5


@dataclass(frozen=True, slots=True)
class Child:
    """What came of it: seconds by phase as the child tells them, and the most memory its tree held."""

    seconds: dict[str, float]
    cpu: float  # seconds of all cores
    peak_mb: float
    largest: str  # the process that held most of it, then


def in_child(*command: str) -> Child:
    """Run `python -m tests.bench.child COMMAND…`. Raises RuntimeError with what it said when it fails."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.child", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    peak, largest, before = 0.0, "", children_cpu()
    while child.poll() is None:
        held = tree(child.pid)
        if sum(held.values()) > peak:
            peak, largest = sum(held.values()), max(held, key=lambda name: held[name])
        time.sleep(INTERVAL_S)
    out, err = child.communicate()
    if child.returncode:
        raise RuntimeError(err.decode())
    return Child(json.loads(out.splitlines()[-1]), children_cpu() - before, peak, largest)


def own_peak_mb() -> float:
    """Most memory that this process held since it began; `ru_maxrss` would count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def children_cpu() -> float:
    """Seconds of all children that this process has waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def tree(pid: int) -> dict[str, float]:
    """Process name -> megabytes of `pid` and its descendants; pages that several share are counted once."""
    held: dict[str, float] = {}
    for each in (pid, *descendants(pid)):
        try:
            name = Path(f"/proc/{each}/comm").read_text().strip()
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has just ended
        kilobytes = next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
        held[name] = held.get(name, 0.0) + kilobytes / 1024
    return held


def descendants(pid: int) -> list[int]:
    """Children, their children and so on."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found
