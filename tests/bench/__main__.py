"""`python -m tests.bench [NAME…] [--scale 0.1] [--keep FOLDER]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import charts, cold, console, jsonl, memory, page, reading, rules, stores, trackers, warm
from .measure import Bench

MEASURES = (jsonl, console, trackers, stores, rules, cold, warm, memory, page, charts, reading)


def main(arguments: list[str]) -> int:
    names = [measure.NAME for measure in MEASURES]
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="Measure sitegen against yardsticks."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full inputs, e.g. 0.1")
    parser.add_argument("--keep", type=Path, help="folder for inputs and sites; default: a temporary one")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(names))
    if unknown:
        parser.error(f"no such measure: {', '.join(unknown)}; expected {', '.join(names)}")
    with tempfile.TemporaryDirectory(prefix="sitegen-bench-") as scratch:
        bench = Bench(given.keep.absolute() if given.keep else Path(scratch), given.scale)
        for measure in MEASURES:
            if not given.names or measure.NAME in given.names:
                for result in measure.run(bench):
                    sys.stdout.write(result.line() + "\n")
                    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
