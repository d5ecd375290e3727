"""`python -m tests.tinyrl RUNS [NAME…]`: train the demo runs and write them below RUNS."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core a run; before numpy is imported

from .scenarios import SCENARIOS
from .stage import produce


def main(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    runs, wanted = Path(arguments[0]), set(arguments[1:])
    unknown = wanted - {scenario.name for scenario in SCENARIOS}
    if unknown:
        sys.stderr.write(f"no such run: {', '.join(sorted(unknown))}\n")
        return 2
    chosen = [scenario for scenario in SCENARIOS if not wanted or scenario.name in wanted]
    began = time.perf_counter()
    with ProcessPoolExecutor(max_workers=2) as pool:
        for done in as_completed([pool.submit(produce, scenario, runs) for scenario in chosen]):
            sys.stderr.write(f"{time.perf_counter() - began:6.1f} s  {done.result()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
