"""Finding the few lines of a log that matter without looking at each of them.

Megabytes of generated text lie between two step lines. A line is read only if it holds one of these marks (or
if it goes on with something that an earlier line began): searching a block for a fixed byte string is some
thirty times as fast as taking its lines apart. The marks must cover whatever the readers look for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

STEP = b"step:"
MARKS = (
    # faults and ends, see diagnosis
    b"Traceback", b"Error", b"ERROR", b"Exception", b"out of memory", b"(OOM)", b"oom_kill", b"oom-kill",
    b"SIG", b"NCCL", b"atchdog", b"illed", b"died", b"CANCELLED", b"slurm", b"Terminated", b"aylet",
    b"KeyboardInterrupt", b"No space left", b"uota exceeded", b"finite", b"xit code", b"xitcode",
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


def candidates(lines: Sequence[bytes]) -> list[int]:
    """Indexes of the lines that hold a mark, ascending."""
    found = {index for index, line in enumerate(lines) if STEP in line}
    others = [index for index in range(len(lines)) if index not in found]
    rest = b"\n".join([lines[index] for index in others])
    ends = list(accumulate(len(lines[index]) + 1 for index in others))
    found.update(others[bisect_right(ends, at)] for at in _places(rest))
    return sorted(found)


def _places(block: bytes) -> Iterator[int]:
    """One place for each mark in each line of a block that holds it."""
    for match in _TIME.finditer(block):
        yield match.start()
    for mark in MARKS:
        at = block.find(mark)
        while at >= 0:
            yield at
            end = block.find(b"\n", at)
            at = block.find(mark, end) if end >= 0 else -1
