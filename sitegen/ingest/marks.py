"""Finding the few lines of a log that matter without looking at each of them.

Megabytes of generated text lie between two step lines. A line is read only if it holds one of these marks (or
if it goes on with something that an earlier line began): searching a block for a fixed byte string is some
thirty times as fast as taking its lines apart. The marks must cover whatever the readers look for.
"""

from __future__ import annotations

import re
from bisect import bisect_left

STEP = b"step:"
MARKS = (
    STEP,
    # faults and ends, see diagnosis
    b"Traceback", b"Error", b"ERROR", b"Exception", b"out of memory", b"OOM", b"oom_kill", b"oom-kill",
    b"SIG", b"NCCL", b"atchdog", b"illed", b"died", b"CANCELLED", b"slurm", b"Terminated", b"aylet",
    b"KeyboardInterrupt", b"^C", b"No space left", b"uota exceeded", b"finite", b"xit code", b"xitcode",
    b"xit status", b"signal", b"(Pdb)",
    # progress
    b"raining ", b"Epoch ", b"validation metrics", b"heckpoint", b"lobal step", b"global_step_", b"Resum",
    # config and facts
    b"': {", b"commit", b"command:", b"verl", b"main_ppo", b"recipe.", b"Total ", b"total number of steps",
    b"used/total", b"NVIDIA",
    # records that do not begin with a step line
    b"[INFO]", b"[METRIC", b"/grad_norm:", b" - critic/score/", b" - timing_s/", b" - perf/", b"\\u001b",
)  # fmt: skip
_TIME = re.compile(rb"20[0-4]\d[-/][01]\d[-/][0-3]\d[ T_]\d\d:")
_DENSE = 3000  # bytes per step line: below this a block is read line by line


def dense(block: bytes) -> bool:
    """Whether so much of a block is step lines that marks need not be searched first."""
    return block.count(STEP) * _DENSE > len(block)


def marked(line: bytes) -> bool:
    """Whether a single line holds a mark."""
    return any(mark in line for mark in MARKS) or _TIME.search(line) is not None


def line_starts(block: bytes) -> list[int]:
    """Offsets of the lines of a block that hold a mark, ascending, each once."""
    found = [match.start() for match in _TIME.finditer(block)]
    for mark in MARKS:
        at = block.find(mark)
        while at >= 0:
            found.append(at)
            end = block.find(b"\n", at)
            at = block.find(mark, end) if end >= 0 else -1
    return sorted({block.rfind(b"\n", 0, at) + 1 for at in found})


def after(starts: list[int], offset: int) -> int:
    """The first of `starts` at or behind `offset`, or -1."""
    index = bisect_left(starts, offset)
    return starts[index] if index < len(starts) else -1
