"""Jobs of SLURM that began one training anew: `slurm-7.out` was cut off, `slurm-9.out` is at step 1 again.

One that resumes from a checkpoint goes on with later steps and is recognised by these. One that had none has
other values, as another training would. That it is none is said by the scheduler, which cut the first off,
and by a configuration that is the same but for the trainer's own settings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.ingest.source import Source, SourceRefused

_NAMED = re.compile(r"(?:^|/)slurm-(\d{1,12})(?:_(\d{1,9}))?\.(?:out|log)$")
_CUT = re.compile(rb"CANCELLED AT \S+ DUE TO (?:PREEMPTION|TIME LIMIT|NODE FAILURE|JOB REQUEUE)|REQUEUED AT ")
_TAIL = 1 << 15  # bytes
_FEWEST = 3  # settings that a configuration has at least


@dataclass(frozen=True, slots=True)
class Job:
    """What a log tells of the job that wrote it; number 0 = nothing."""

    number: int = 0
    task: str = ""  # of an array
    cut: bool = False  # the scheduler ended it
    setup: str = ""  # digest of its configuration


NONE = Job()


def job(source: Source, config: Mapping[str, str]) -> Job:
    """The job of a log, as its name and its last lines tell."""
    named = _NAMED.search(source.path)
    settings = sorted(each for each in config.items() if not each[0].startswith("trainer."))
    if named is None or len(settings) < _FEWEST:
        return NONE
    digest = hashlib.sha256(repr(settings).encode("utf-8", "surrogatepass")).hexdigest()
    return Job(int(named[1]), named[2] or "", _cut(source), digest)


def attempts(a: Job, b: Job) -> bool:
    """Whether the later of two jobs took up what the earlier one was cut off from."""
    first = a if a.number < b.number else b
    return bool(a.number and b.number) and (
        a.number != b.number and a.task == b.task and a.setup == b.setup and first.cut
    )


def _cut(source: Source) -> bool:
    try:
        return _CUT.search(source.tail(_TAIL)) is not None
    except (OSError, SourceRefused):
        return False
