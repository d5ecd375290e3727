"""Runs written a second time, in another manner: plain formulas and Gaussian noise, as somebody would who
knows only the names of verl's metrics. What the rules do on both is less likely to be a fit to one of them.

`Draft` is one run being written: an array per plain word. `logged` gives it verl's names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sitegen.model import Floats
from tests.detection.profiles import Rng
from tests.detection.trace import Trace


@dataclass
class Draft:
    """One run in plain words.

    Args:
        rows: logged steps.
        low, high: score of the worst and the best answer.
        every: rows between validations.
        critic, kl: whether the run has one.
        of: word -> values, one per row.
    """

    rows: int
    rng: Rng
    low: float = 0.0
    high: float = 1.0
    every: int = 10
    critic: bool = False
    kl: bool = True
    of: dict[str, Floats] = field(default_factory=dict)

    def __getitem__(self, word: str) -> Floats:
        return self.of[word]

    def __setitem__(self, word: str, values: Floats | float) -> None:
        self.of[word] = np.broadcast_to(np.asarray(values, np.float64), self.rows).copy()

    @property
    def t(self) -> Floats:
        return np.arange(self.rows, dtype=np.float64)

    @property
    def part(self) -> Floats:
        return self.t / max(1, self.rows - 1)

    def ramp(self, first: int, rows: float) -> Floats:
        """0 before row `first`, 1 from `rows` rows later on."""
        return np.clip((self.t - first + 1) / max(1.0, rows), 0, 1)

    def normal(self, sd: float | Floats = 1.0) -> Floats:
        return np.asarray(self.rng.normal(0, 1, self.rows) * sd)

    def drift(self, memory: float) -> Floats:
        """AR(1) noise with sd 1 and the correlation `memory` of neighbours."""
        fresh = self.rng.normal(0, 1, self.rows)
        for row in range(1, self.rows):
            fresh[row] = memory * fresh[row - 1] + np.sqrt(1 - memory**2) * fresh[row]
        return fresh


def draft(rows: int, rng: Rng) -> Draft:
    """An ordinary run: saturating score, decaying entropy, rising KL, steady lengths and machine."""
    d = Draft(rows, rng, every=int(rng.choice([5, 10, 20])), critic=bool(rng.random() < 0.3))
    learned = 1 - np.exp(-d.part * rng.uniform(2, 6))
    d["learned"] = learned
    d["score"] = rng.uniform(0.1, 0.35) + rng.uniform(0.25, 0.5) * learned
    d["score_noise"] = rng.uniform(0.008, 0.03)
    d["val"] = d["score"] - rng.uniform(-0.02, 0.05)
    d["entropy"] = rng.uniform(0.4, 2.0) * (0.3 + 0.7 * np.exp(-d.part * rng.uniform(1, 3)))
    d["kl"] = 0.0005 + rng.uniform(0.02, 0.12) * learned
    d["ppo_kl"] = np.abs(d.normal(3e-4))
    d["grad"] = rng.uniform(0.15, 1.5) * np.exp(d.normal(rng.uniform(0.1, 0.3)))
    d["clip"] = np.abs(rng.uniform(0.002, 0.03) * (1 + d.normal(0.2)))
    d["pg"] = d.normal(0.01)
    d["lr"] = 1e-6
    d["length"] = rng.uniform(200, 900) * (1 + rng.uniform(-0.2, 0.3) * learned)
    d["cut"] = rng.uniform(0.0, 0.03)
    d["advantage"] = 1.0
    d["throughput"] = rng.uniform(800, 4000)
    d["speed_noise"] = rng.uniform(0.02, 0.06)
    d["stall"] = 0.0
    d["gpu"] = rng.uniform(35, 60)
    d["host"] = rng.uniform(80, 300)
    d["vf_loss"] = 0.02 + 0.1 * np.exp(-5 * d.part)
    d["ev"] = 0.7 * (1 - np.exp(-8 * d.part))
    return d


def logged(d: Draft) -> dict[str, Floats]:
    """The metrics verl would log."""
    scale = d.high - d.low
    noisy = d["score"] + (d["error"] if "error" in d.of else d.normal(d["score_noise"]))
    score = d.low + scale * np.clip(noisy, 0, 1)
    found = {
        "critic/score/mean": score,
        "critic/score/max": np.full(d.rows, d.high),
        "critic/score/min": np.full(d.rows, d.low),
        "critic/rewards/mean": score,
        "critic/rewards/max": np.full(d.rows, d.high),
        "critic/rewards/min": np.full(d.rows, d.low),
        "critic/advantages/mean": d.normal(0.01) * d["advantage"],
        "critic/advantages/max": (2.0 + np.abs(d.normal(0.3))) * d["advantage"],
        "critic/advantages/min": -(2.0 + np.abs(d.normal(0.3))) * d["advantage"],
        "actor/entropy": np.maximum(d["entropy"] * (1 + d.normal(0.03)), 0),
        "actor/pg_loss": d["pg"],
        "actor/pg_clipfrac": np.clip(d["clip"], 0, 1),
        "actor/ppo_kl": d["ppo_kl"],
        "actor/grad_norm": d["grad"],
        "actor/lr": d["lr"],
    }
    if d.kl:
        found["actor/kl_loss"] = np.maximum(d["kl"] * (1 + d.normal(0.08)), 0)
    return {**found, **_lengths(d), **_machine(d), **_critic(d, score), **_validation(d)}


def _lengths(d: Draft) -> dict[str, Floats]:
    mean = d["length"] * (1 + d.normal(0.025))
    return {
        "response_length/mean": mean,
        "response_length/max": np.maximum.accumulate(2.2 * d["length"]),
        "response_length/min": mean * 0.2,
        "response_length/clip_ratio": np.clip(d["cut"] * (1 + d.normal(0.2)), 0, 1),
        "prompt_length/mean": 150.0 + d.normal(4.0),
        "prompt_length/max": np.full(d.rows, 512.0),
        "prompt_length/clip_ratio": np.zeros(d.rows),
    }


def _machine(d: Draft) -> dict[str, Floats]:
    throughput = d["throughput"] * np.clip(1 + d.normal(d["speed_noise"]), 0.2, None)
    tokens = (d["length"] + 150) * 512
    seconds = tokens / throughput / 8 + d["stall"]
    return {
        "perf/throughput": tokens / seconds / 8,
        "perf/time_per_step": seconds,
        "perf/total_num_tokens": tokens,
        "perf/max_memory_allocated_gb": d["gpu"],
        "perf/max_memory_reserved_gb": d["gpu"] * 1.15,
        "perf/cpu_memory_used_gb": d["host"] * (1 + d.normal(0.01)),
        "perf/mfu/actor": 0.3 * throughput / float(np.median(d["throughput"])),
        "timing_s/step": seconds,
        "timing_s/gen": 0.5 * (seconds - d["stall"]),
        "timing_s/update_actor": 0.3 * (seconds - d["stall"]),
        "timing_s/old_log_prob": 0.12 * (seconds - d["stall"]),
        "timing_s/adv": np.full(d.rows, 0.1),
    }


def _critic(d: Draft, score: Floats) -> dict[str, Floats]:
    if not d.critic:
        return {}
    return {
        "critic/vf_loss": d["vf_loss"] * np.exp(d.normal(0.15)),
        "critic/vf_explained_var": np.minimum(d["ev"] + d.normal(0.05), 1),
        "critic/vf_clipfrac": np.abs(d.normal(0.01)),
        "critic/grad_norm": 3 * np.exp(d.normal(0.3)),
        "critic/lr": np.full(d.rows, 1e-5),
        "critic/values/mean": score + d.normal(0.02),
        "critic/returns/mean": score,
    }


def _validation(d: Draft) -> dict[str, Floats]:
    tested = (np.arange(1, d.rows + 1) % d.every) == 0
    noise = d["val_noise"] if "val_noise" in d.of else np.full(d.rows, 0.012)
    scaled = np.clip(d["val"] + d.normal(noise), 0, 1)
    return {"val-core/task/reward/mean@1": np.where(tested, d.low + (d.high - d.low) * scaled, np.nan)}


def write(trace: Trace, d: Draft) -> None:
    """Put `d` into `trace` in place of what was there."""
    trace.metrics = logged(d)


# --- healthy -------------------------------------------------------------------------------


def ordinary(d: Draft) -> None:
    """Nothing special."""


def drifting_score(d: Draft) -> None:
    """The noise of the score has a memory, as where batches come from a shuffled file."""
    d["error"] = d.rng.uniform(0.012, 0.03) * d.drift(d.rng.uniform(0.5, 0.85))


def wild_gradients(d: Draft) -> None:
    """Gradient norms with the tails of a t distribution with two degrees of freedom."""
    d["grad"] = d.rng.uniform(0.1, 2.0) * np.exp(0.25 * d.rng.standard_t(2, d.rows).clip(-3, 12))


def cosine(d: Draft) -> None:
    """Learning rate: linear warm-up, then a cosine to zero."""
    warm = max(3, d.rows // 20)
    down = np.clip((d.t - warm) / max(1, d.rows - warm), 0, 1)
    d["lr"] = 5e-6 * np.minimum((d.t + 1) / warm, 0.5 * (1 + np.cos(np.pi * down)))


def thrifty_entropy(d: Draft) -> None:
    """Entropy falls by four fifths, steadily, while the score rises."""
    d["entropy"] = d.rng.uniform(0.6, 2.0) * (0.2 + 0.8 * np.exp(-d.part * d.rng.uniform(3, 6)))


def longer_thoughts(d: Draft) -> None:
    """Answers grow fourfold with the score, as in R1; steps take longer, few answers are cut."""
    d["length"] = d.rng.uniform(300, 900) * (1 + 3 * d.part)
    d["score"] = 0.2 + 0.45 * d.part
    d["val"] = d["score"] - 0.02
    d["cut"] = 0.01 + 0.03 * d.part
    d["throughput"] *= 1 - 0.2 * d.part


def linear_kl(d: Draft) -> None:
    """The KL to the reference grows in proportion to the steps, to 0.3, with the score."""
    d["score"] = 0.25 + 0.4 * d.part
    d["val"] = d["score"] - 0.02
    d["kl"] = 0.001 + d.rng.uniform(0.15, 0.3) * d.part


def harder_tasks(d: Draft) -> None:
    """A curriculum goes up a level: the score drops by 30 % and is back within a sixth of the run."""
    first = int(d.rng.uniform(0.35, 0.6) * d.rows)
    dip = 0.3 * d.ramp(first, 1) * (1 - d.ramp(first, d.rows / 6))
    d["score"] = d["score"] * (1 - dip)
    d["val"] = d["val"] - 0.01 * dip


def both_signs(d: Draft) -> None:
    """Marks of -1 and 1."""
    d.low = -1.0


def percent(d: Draft) -> None:
    """Marks from 0 to 100."""
    d.high = 100.0


def reward_model(d: Draft) -> None:
    """A reward model's raw marks, below zero at the start."""
    d.low, d.high = -8.0, 6.0


def rare_tests(d: Draft) -> None:
    """Validation every fifty rows."""
    d.every = 50


def small_exam(d: Draft) -> None:
    """Thirty validation problems: its noise is six hundredths."""
    d["val_noise"] = 0.06
    d.every = 5


def no_kl(d: Draft) -> None:
    """DAPO: no KL at all, marks of -1 and 1, entropy held up by a wide clip."""
    d.kl, d.critic, d.low = False, False, -1.0
    d["entropy"] = d.rng.uniform(0.4, 1.0) * (1 + 0.5 * d["learned"] * d.rng.random())


def slow_saves(d: Draft) -> None:
    """Checkpoints double the time of their step, and nothing in the log says so."""
    d["stall"] = np.where(
        (d.t + 1) % 25 == 0, 1.5 * float(np.median((d["length"] + 150) * 64 / d["throughput"])), 0
    )


def rough_machine(d: Draft) -> None:
    """Throughput varies by 15 %."""
    d["speed_noise"] = 0.15


def warming_memory(d: Draft) -> None:
    """Caches fill: memory grows by a quarter in the first third, and stays."""
    full = 1 - np.exp(-d.part * 9)
    d["host"] = d["host"] * (1 + 0.25 * full)
    d["gpu"] = d["gpu"] * (1 + 0.15 * full)


def long_plateau(d: Draft) -> None:
    """All is learned in the first tenth, the rest of the run holds it."""
    learned = 1 - np.exp(-d.part * 40)
    d["score"] = 0.3 + 0.4 * learned
    d["val"] = d["score"] - 0.03
    d["kl"] = 0.001 + 0.06 * learned + 0.03 * d.part


def late_learner(d: Draft) -> None:
    """Nothing for a third of the run, then a climb."""
    climb = 1 / (1 + np.exp(-14 * (d.part - 0.5)))
    d["score"] = 0.15 + 0.5 * climb
    d["val"] = d["score"] - 0.02
    d["kl"] = 0.001 + 0.1 * climb
    d["length"] = d["length"][0] * (1 + 0.6 * climb)


def two_jumps(d: Draft) -> None:
    """A sudden insight: the score climbs by 0.2 within ten rows, the entropy and length with it."""
    up = d.ramp(int(d.rng.uniform(0.2, 0.5) * d.rows), max(10, 0.05 * d.rows))
    d["score"] = 0.2 + 0.15 * d.part + 0.25 * up
    d["val"] = d["score"] - 0.02
    d["entropy"] = d["entropy"] * (1 - 0.25 * up)
    d["kl"] = d["kl"] * (1 + 0.5 * up)


def steady_kl(d: Draft) -> None:
    """The score levels off early, the KL goes on at the pace it had."""
    learned = 1 - np.exp(-d.part * 8)
    d["score"] = 0.25 + 0.4 * learned
    d["val"] = d["score"] - 0.02
    d["kl"] = 0.002 + d.rng.uniform(0.1, 0.35) * d.part


def waves(d: Draft) -> None:
    """Epochs show in the score as gentle waves."""
    d["score"] = d["score"] + 0.02 * np.sin(2 * np.pi * d.part * 8)


HEALTHY = {
    f"other-{name}": bend
    for name, bend in {
        "ordinary": ordinary,
        "drifting-score": drifting_score,
        "wild-gradients": wild_gradients,
        "cosine": cosine,
        "thrifty-entropy": thrifty_entropy,
        "longer-thoughts": longer_thoughts,
        "linear-kl": linear_kl,
        "harder-tasks": harder_tasks,
        "both-signs": both_signs,
        "percent": percent,
        "reward-model": reward_model,
        "rare-tests": rare_tests,
        "small-exam": small_exam,
        "no-kl": no_kl,
        "slow-saves": slow_saves,
        "rough-machine": rough_machine,
        "warming-memory": warming_memory,
        "long-plateau": long_plateau,
        "late-learner": late_learner,
        "two-jumps": two_jumps,
        "steady-kl": steady_kl,
        "waves": waves,
    }.items()
}
