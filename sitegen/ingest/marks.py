"""Finding the few lines of a log that matter without looking at each of them.

Megabytes of generated text lie between two step lines. A line is read only if it holds one of these marks (or
if it goes on with something that an earlier line began): searching a block for a fixed byte string is some
thirty times as fast as taking its lines apart. The marks must cover whatever the readers look for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

STEP = b"step:"

# What is searched for -> what the line must hold of it; nothing more where the mark says enough itself.
# One search for a common part and a second look at the few lines that have it beat several searches.
MARKS: dict[bytes, tuple[bytes, ...]] = {
    # faults and ends, see diagnosis
    b"Traceback": (),
    b"Error": (
        b"OutOfMemoryError", b"ActorError", b"ActorDied", b"UnavailableError", b"CrashedError", b"NodeDied",
        b"ChildFailedError", b"Error executing job", b"OutOfDiskError",
    ),
    b"Unhandled error": (),
    b"ray::": (b"() (pid=",),
    b"Exception ignored": (),
    b"main_run": (),
    b"out of memory": (),
    b"(OOM)": (),
    b"oom": (b"oom_kill", b"oom-kill"),
    b"SIG": (),
    b"NCCL": (),
    b"atchdog": (),
    b"illed": (b"killed", b"Killed"),
    b"died": (),
    b"CANCELLED": (),
    b"slurm": (),
    b"erminated": (b"Terminated", b"is terminated"),
    b"KeyboardInterrupt": (),
    b"No space left": (),
    b"uota exceeded": (),
    b"% full": (),
    b"finite": (b"not finite", b"on-finite", b"onfinite"),
    b"xit": (b"xit code", b"xitcode", b"xit status"),
    b"signal": (),
    b"(Pdb)": (),
    # progress
    b"raining ": (b"Training ", b"training is", b"training has", b"training fin", b"training comp"),
    b"Epoch ": (),
    b"validation metrics": (),
    b"heckpoint": (),
    b"lobal": (b"lobal step", b"global_step_"),
    b"Resum": (),
    b"Ray ": (b"Ray instance", b"Ray cluster"),
    # config and facts
    b"': {": (),
    b"commit": (),
    b"command:": (),
    b"verl": (b"-m verl", b"verl.trainer", b"verl==", b"verl-0", b"verl 0", b"verl version", b"verl/trainer"),
    b"main_": (b"main_ppo", b"main_dapo"),
    b"recipe.": (),
    b"otal ": (b"Total training", b"Total steps", b"total number of steps"),
    b"used/total": (),
    b"NVIDIA": (),
    # records that do not begin with a step line
    b"[INFO]": (),
    b"[METRIC": (),
    b" - ": (b"/grad_norm:", b" - critic/score/", b" - timing_s/", b" - perf/"),
    b"\\u001b": (),
}  # fmt: skip
_TIME = re.compile(rb"20[0-4]\d[-/][01]\d[-/][0-3]\d[ T_]\d\d:")


@dataclass(frozen=True, slots=True)
class Found:
    """Indexes of lines, ascending: `marked` hold a mark, `timed` a time stamp (perhaps) and no mark."""

    marked: list[int]
    timed: list[int]


def search(lines: Sequence[bytes]) -> Found:
    """Which of consecutive lines matter."""
    steps = {index for index, line in enumerate(lines) if STEP in line}
    others = [index for index in range(len(lines)) if index not in steps]
    rest = b"\n".join([lines[index] for index in others])
    ends = list(accumulate(len(lines[index]) + 1 for index in others))
    marked = steps.union(others[bisect_right(ends, at)] for at in _places(rest))
    timed = {others[bisect_right(ends, match.start())] for match in _TIME.finditer(rest)}
    return Found(sorted(marked), sorted(timed - marked))


def _places(block: bytes) -> Iterator[int]:
    """One place for each mark in each line of a block that holds it."""
    for part, wanted in MARKS.items():
        at = block.find(part)
        while at >= 0:
            end = block.find(b"\n", at)
            end = len(block) if end < 0 else end
            if not wanted or _holds(block[block.rfind(b"\n", 0, at) + 1 : end], wanted):
                yield at
            at = block.find(part, end)


def _holds(line: bytes, wanted: tuple[bytes, ...]) -> bool:
    return any(part in line for part in wanted)
