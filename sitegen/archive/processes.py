"""Reading runs side by side. A run that fails is a problem; a process that dies takes no other run along."""

from __future__ import annotations

import gc
import sys
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from sitegen.archive.build import Built, build
from sitegen.archive.planned import RunPlan
from sitegen.errors import Problem

Result = Built | Problem


def attempt(plan: RunPlan, archive: Path) -> Result:
    """Build one run in this process."""
    try:
        return build(plan, archive)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Problem(plan.path, None, "internal", f"the run could not be written to the archive: {reason}")
    except Exception as error:  # one bad run never stops the others
        what = f"the run could not be built ({type(error).__name__})"
        return Problem(plan.path, None, "internal", what, "Please report it with the run's files.")


def side_by_side(plans: Iterable[RunPlan], archive: Path, jobs: int) -> Iterator[tuple[RunPlan, Result]]:
    """Build in `jobs` processes, this one among them; starting one costs as much as reading 50 MB.

    The others take the first plans (give the biggest runs first), this one the last that is left. What a
    dying process left undone is tried again, each run in a process of its own.
    """
    left = deque(plans)
    busy: dict[Future[Result], RunPlan] = {}
    undone: list[RunPlan] = []
    with _pool(jobs - 1) as pool:
        while left or busy:
            while left and len(busy) < 2 * (jobs - 1) and not undone:
                _start(pool, left.popleft(), archive, busy, undone)
            if left:
                plan = left.pop()
                yield plan, attempt(plan, archive)
            for future in wait(busy, 0 if left else None, FIRST_COMPLETED).done:
                plan = busy.pop(future)
                try:
                    yield plan, future.result()
                except BrokenProcessPool:
                    undone.append(plan)
    for plan in undone:
        yield plan, _alone(plan, archive)


def _start(
    pool: ProcessPoolExecutor,
    plan: RunPlan,
    archive: Path,
    busy: dict[Future[Result], RunPlan],
    undone: list[RunPlan],
) -> None:
    try:
        with without_main(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 counts sleeping threads too
            busy[pool.submit(attempt, plan, archive)] = plan
    except BrokenProcessPool:
        undone.append(plan)


def _alone(plan: RunPlan, archive: Path) -> Result:
    try:
        with _pool(1) as pool:
            busy: dict[Future[Result], RunPlan] = {}
            _start(pool, plan, archive, busy, [])
            for future in busy:
                return future.result()
    except BrokenProcessPool:
        pass
    hint = "It may have run out of memory."
    return Problem(plan.path, None, "internal", "the process that read the run died", hint)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Records are trees of lists and floats: looking for cycles among them is lost time.
    return ProcessPoolExecutor(
        jobs, mp_context=get_context(_method()), initializer=gc.set_threshold, initargs=(200_000, 50, 100)
    )


def _method() -> str:
    """How processes start: by fork, which costs nothing, where no thread of the caller's could hold a lock.

    mkdocs serve has threads, and a lock that another thread held when the process forked never opens again.
    Threads of numpy and Arrow sleep between calls and hold none.
    """
    alone = sys.platform == "linux" and threading.active_count() == 1
    return "fork" if alone else "spawn"


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the main module while a process starts.

    The new process would import it: all of mkdocs where mkdocs calls, or a script that calls `update` at its
    top level and so would start itself again. What runs there is `attempt`, which needs none of it.
    """
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__spec__ = spec
        if file is not None:
            main.__file__ = file
