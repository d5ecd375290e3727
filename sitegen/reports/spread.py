"""Work on many runs, in several processes where that is worth it."""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

from sitegen.archive.processes import without_main
from sitegen.language import choose, spoken

#: Fewer runs than this are done before a second process has started.
PARALLEL_FROM = 16
THREADS = 2  # of a process that works alone
_BATCH = 200  # enough runs to share the planning of queries, few enough for the memory of several processes

S = TypeVar("S")
R = TypeVar("R")
Work = Callable[[S, Sequence[str], int], R]


def spread(work: Work[S, R], subject: S, runs: Sequence[str], jobs: int | None) -> Iterator[R]:
    """`work(subject, batch, threads)` for batches of `runs`, in their order.

    With `jobs` processes (by default one for each core), each of one thread, `subject` is sent to each
    once; `work` must be found by its name there.
    """
    workers = min(jobs or os.cpu_count() or 1, max(1, len(runs) // 8))
    if workers < 2 or len(runs) < PARALLEL_FROM:
        for batch in batches(runs):
            yield work(subject, batch, THREADS)
        return
    context = multiprocessing.get_context("spawn")  # threads of numpy and Arrow do not survive a fork
    with ProcessPoolExecutor(workers, context, _start, (work, subject, spoken())) as pool:
        with without_main():
            waiting = [pool.submit(_work, batch) for batch in batches(runs, workers)]
        for each in waiting:
            yield each.result()


def batches(runs: Sequence[str], workers: int = 1) -> tuple[Sequence[str], ...]:
    """`runs` in their order, cut for evaluation: as few batches as memory allows, as many for each worker."""
    count = workers * max(1, math.ceil(len(runs) / (_BATCH * workers)))
    size = max(1, math.ceil(len(runs) / count))
    return tuple(runs[start : start + size] for start in range(0, len(runs), size))


_job: tuple[Work[Any, Any], Any] | None = None  # of a worker process


def _start(work: Work[S, R], subject: S, language: str) -> None:
    global _job
    choose(language)
    _job = (work, subject)
    gc.freeze()  # the catalog stays: no collection needs to look at it again


def _work(batch: Sequence[str]) -> Any:
    assert _job is not None
    work, subject = _job
    return work(subject, batch, 1)
