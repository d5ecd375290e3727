"""Curves of a run: what it would log, row by row, if there were no noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.detection.profiles import Rng, Setup

Floats = NDArray[np.float64]


@dataclass
class Curves:
    """One array of `rows` values per name. Incidents and traps bend them in place.

    right      chance that an answer is right          unrest     spread of the score, in sampling noise
    kl         nats to the reference                   entropy    nats per token
    grad       gradient norm of the actor              spread     spread of its logarithm
    length     tokens per answer                       cut        share of answers cut off
    prompt     tokens per prompt                       aborted    share of answers without a token
    clip, clip_low, update_kl, pg                      of the update
    lr         learning rate                           signal     size of the advantages, 1 = usual
    ev, vf_loss, critic_grad, vpred                    of the critic
    val        chance of a right answer in validation  pace       speed of the machine, 1 = usual
    gen_pace   speed of generation alone               stall      seconds lost in a step
    reward_s   seconds of the reward function          host, gpu, reserved    GB
    gap, pearson  rollout against training             tries      batches generated per step
    """

    setup: Setup
    rng: Rng
    of: dict[str, Floats] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Floats:
        return self.of[name]

    def __setitem__(self, name: str, values: Floats | float) -> None:
        self.of[name] = np.broadcast_to(np.asarray(values, np.float64), self.setup.rows).copy()

    def __contains__(self, name: str) -> bool:
        return name in self.of

    @property
    def rows(self) -> int:
        return self.setup.rows

    @property
    def part(self) -> Floats:
        """Share of the run that is over, by row."""
        return np.arange(1, self.rows + 1) / self.rows

    def noise(self, row: int) -> float:
        """Sampling noise of the mean mark at `row`, as a share of right answers."""
        p = min(max(float(self["right"][row]), 0.05), 0.95)
        return float(np.sqrt(p * (1 - p) / self.setup.batch))

    def ramp(self, first: int, rows: float) -> Floats:
        """0 before row `first`, then rising to 1 within `rows` rows; 1 after that."""
        return np.clip((np.arange(self.rows) - first + 1) / max(rows, 1.0), 0.0, 1.0)

    def bump(self, first: int, last: int) -> Floats:
        """1 from row `first` to row `last`, else 0."""
        at = np.arange(self.rows)
        return ((at >= first) & (at <= last)).astype(np.float64)


def healthy(setup: Setup, rng: Rng) -> Curves:
    """Curves of a run that learns, its parameters drawn from what healthy public runs show."""
    curves = Curves(setup, rng)
    _score(curves)
    _policy(curves)
    _lengths(curves)
    _machine(curves)
    if setup.profile.critic:
        _critic(curves)
    return curves


def _score(curves: Curves) -> None:
    rng, part = curves.rng, curves.part
    low, high = rng.uniform(0.05, 0.35), rng.uniform(0.55, 0.92)
    if rng.random() < 0.5:
        climb = 1 - np.exp(-rng.uniform(4, 10) * part)
    else:
        middle, steep = rng.uniform(0.08, 0.3), rng.uniform(10, 25)
        climb = 1 / (1 + np.exp(-steep * (part - middle)))
    climb = (climb - climb[0]) / (climb[-1] - climb[0])
    curves["right"] = low + (high - low) * climb
    curves["val"] = curves["right"] * rng.uniform(0.85, 1.0)
    curves["unrest"] = 1.0
    curves["signal"] = 1.0


def progress(curves: Curves) -> Floats:
    """How much of what there was to learn has been learned, 0 to 1."""
    right = curves["right"]
    return np.asarray((right - right[0]) / max(right[-1] - right[0], 1e-9))


def _policy(curves: Curves) -> None:
    rng, part = curves.rng, curves.part
    gained = np.clip(progress(curves), 0, 1)
    if curves.setup.profile.kl:
        curves["kl"] = 0.001 + rng.uniform(0.05, 0.3) * (0.75 * gained + 0.25 * part)
    start, left = rng.uniform(0.25, 1.2), rng.uniform(0.12, 0.4)
    curves["entropy"] = start * np.exp(np.log(left) * part ** rng.uniform(0.4, 0.8))
    low, high = curves.setup.profile.gradient
    curves["grad"] = np.exp(rng.uniform(np.log(low), np.log(high))) * np.exp(-rng.uniform(0.0, 0.8) * part)
    curves["spread"] = 0.23
    usual = (
        (0.08, 0.16) if curves.setup.profile.name == "gspo" else (0.0005, 0.01)
    )  # GSPO clips whole answers
    curves["clip"] = np.exp(rng.uniform(np.log(usual[0]), np.log(usual[1])))
    curves["clip_low"] = rng.uniform(0, 2e-4)
    curves["update_kl"] = rng.uniform(5e-5, 5e-4)
    curves["pg"] = rng.uniform(0.005, 0.03)
    ramp = np.clip(np.arange(1, curves.rows + 1) * curves.setup.stride / max(curves.setup.warmup, 1), 0, 1)
    curves["lr"] = 1e-6 * ramp
    curves["gap"] = rng.uniform(0.0012, 0.0038)
    curves["pearson"] = rng.uniform(0.996, 0.9993)
    if curves.setup.profile.name == "dapo":
        curves["tries"] = rng.uniform(1.5, 2.5) + 1.0 * part


def _lengths(curves: Curves) -> None:
    rng, part = curves.rng, curves.part
    low, high = curves.setup.profile.length
    start = np.exp(rng.uniform(np.log(low), np.log(high)))
    curves["length"] = start * (1 + rng.uniform(-0.25, 0.45) * np.clip(progress(curves), 0, 1))
    curves["cut"] = rng.uniform(0.0, 0.08) * np.exp(-20 * part) + rng.uniform(0.001, 0.02)
    curves["prompt"] = rng.uniform(80, 400)
    curves["aborted"] = 0.0


def _machine(curves: Curves) -> None:
    rng, part = curves.rng, curves.part
    for name in ("pace", "gen_pace"):
        curves[name] = 1.0
    curves["stall"] = 0.0
    curves["reward_s"] = np.exp(rng.uniform(np.log(0.05), np.log(3.0)))
    early = 1 - np.exp(-np.arange(1, curves.rows + 1) / 5)
    curves["host"] = rng.uniform(60, 400) * (1 + 0.15 * early + rng.uniform(0, 0.04) * part)
    curves["gpu"] = rng.uniform(30, 60) * (0.93 + 0.07 * early)
    curves["reserved"] = curves["gpu"] + rng.uniform(4, 12)


def _critic(curves: Curves) -> None:
    rng = curves.rng
    row, part = np.arange(1, curves.rows + 1), curves.part
    curves["ev"] = -rng.uniform(0.3, 3) * np.exp(-row / rng.uniform(3, 7)) + rng.uniform(0.25, 0.6) * (
        1 - np.exp(-5 * part)
    )
    curves["vf_loss"] = rng.uniform(0.05, 0.2) * (0.35 + 0.65 * np.exp(-4 * part))
    curves["critic_grad"] = rng.uniform(2, 30) * np.exp(-0.5 * part)
    curves["vpred"] = curves["right"] * rng.uniform(0.9, 1.1)
