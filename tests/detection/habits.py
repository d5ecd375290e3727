"""How runs are logged besides: names of an older verl, columns that a version lacks, an announced resume."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.detection.profiles import Rng
from tests.detection.trace import Trace

#: Names of verl 0.3 for what the simulator logs under newer ones.
OLD: Mapping[str, str] = {
    "actor/entropy": "actor/entropy_loss",
    "actor/reward_kl_penalty": "critic/kl",
    "actor/reward_kl_penalty_coeff": "critic/kl_coeff",
    "perf/mfu/actor": "mfu/actor",
    "val-core/sim/acc/mean@1": "val/test_score/sim",
}
NEW = {old: new for new, old in OLD.items()}
#: Beginnings of names that not every version and setting logs.
OPTIONAL = (
    "actor/pg_clipfrac_lower",
    "perf/cpu_memory",
    "perf/max_memory",
    "perf/mfu",
    "prompt_length/clip_ratio",
    "response/aborted_ratio",
    "timing_per_token_ms/",
    "timing_s/old_log_prob",
    "timing_s/reward",
    "training/rollout",
)


def modern(name: str) -> str:
    """The newer name of a metric."""
    return NEW.get(name, name)


def wear(trace: Trace, reads: tuple[str, ...], rng: Rng) -> None:
    """Give a trace habits; metrics whose names begin with one of `reads` stay."""
    gone = tuple(begin for begin in OPTIONAL if rng.random() < 0.12 and not _read(begin, reads))
    resumes, old = rng.random() < 0.1, rng.random() < 0.15
    trace.metrics = {
        name: values for name, values in trace.metrics.items() if not name.startswith(gone or ("-",))
    }
    if resumes and trace.rows >= 60:
        announced_resume(trace, int(rng.uniform(0.1, 0.25) * trace.rows), int(rng.integers(2, 10)), rng)
    if old:
        trace.metrics = {OLD.get(name, name): values for name, values in trace.metrics.items()}
        trace.odd = [(row, OLD.get(name, name), raw) for row, name, raw in trace.odd]


def _read(begin: str, reads: tuple[str, ...]) -> bool:
    return any(one.startswith(begin) or begin.startswith(one) for one in reads)


def announced_resume(trace: Trace, row: int, back: int, rng: np.random.Generator) -> None:
    """The job ends after `row` and is resumed from its last checkpoint, `back` rows earlier, and says so."""
    trace.again_from(row, back, rng)
    step = int(trace.steps[row + 1]) - trace.setup.stride
    trace.say(row, "resumed", "info", f"Setting global step to {step}")
