"""Kinds of run, and what a seed draws for one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Profile:
    """What runs of one kind have in common. Ranges are (lowest, highest)."""

    name: str
    algorithm: str
    estimator: str = "grpo"
    kl: str | None = "actor/kl_loss"  # the name under which the reference KL is logged
    marks: tuple[float, float] = (0.0, 1.0)  # worst and best score of an answer
    gradient: tuple[float, float] = (0.05, 1.5)
    length: tuple[float, float] = (200.0, 1500.0)
    extra: tuple[tuple[str, str], ...] = ()  # settings beyond the usual

    @property
    def critic(self) -> bool:
        return self.estimator == "gae"


ACTOR = "actor_rollout_ref.actor"
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("ppo", "PPO", "gae", "actor/reward_kl_penalty", gradient=(0.3, 5.0), length=(120.0, 400.0)),
        Profile("grpo", "GRPO"),
        Profile(
            "dapo", "DAPO", kl=None, marks=(-1.0, 1.0), length=(600.0, 3000.0),
            extra=(
                ("algorithm.filter_groups.enable", "True"),
                ("algorithm.filter_groups.max_num_gen_batches", "10"),
                (f"{ACTOR}.clip_ratio_high", "0.28"),
                (f"{ACTOR}.clip_ratio_low", "0.2"),
            ),
        ),
        Profile("gspo", "GSPO", extra=((f"{ACTOR}.policy_loss.loss_mode", "gspo"),)),
        Profile(
            "lora", "GRPO", gradient=(0.01, 0.3),
            extra=(("actor_rollout_ref.model.lora_rank", "32"),),
        ),
        Profile("sft", "SFT", "", None),
    )
}  # fmt: skip
RL = tuple(name for name in PROFILES if name != "sft")
WITH_KL = tuple(name for name in RL if PROFILES[name].kl)

#: Steps of a run and the stride it is logged with; long runs are rare.
SIZES = (
    (100, 1),
    (150, 1),
    (150, 1),
    (250, 1),
    (250, 1),
    (400, 1),
    (400, 1),
    (1000, 1),
    (3000, 10),
    (20000, 50),
)
BATCHES = (64, 128, 256, 256, 512, 512, 1024, 2048)


@dataclass(frozen=True, slots=True)
class Setup:
    """What one run was started with."""

    profile: Profile
    rows: int
    stride: int
    batch: int  # answers per step
    group: int  # answers per prompt
    gpus: int
    limit: int  # tokens of the longest answer allowed
    test_every: int  # rows
    save_every: int  # rows
    warmup: int  # steps of learning-rate warm-up
    problems: int  # of the validation set
    unrest: float  # spread of step times
    spikes: float  # share of steps with an isolated gradient spike
    decimals: int | None  # fixed decimals of the log, or every digit

    @property
    def steps(self) -> int:
        return self.rows * self.stride

    @property
    def config(self) -> dict[str, str]:
        """Settings as verl prints them, by dotted key."""
        if self.profile.name == "sft":
            return {
                "model.partial_pretrain": "models/sim-1b",
                "trainer.total_training_steps": str(self.steps),
            }
        group = self.group if not self.profile.critic else 1
        return {
            "algorithm.adv_estimator": self.profile.estimator,
            "actor_rollout_ref.model.path": "models/sim-7b",
            "actor_rollout_ref.rollout.n": str(group),
            f"{ACTOR}.optim.lr": "1e-06",
            f"{ACTOR}.optim.lr_warmup_steps": str(self.warmup),
            "data.max_response_length": str(self.limit),
            "data.train_batch_size": str(self.batch // group),
            "trainer.n_gpus_per_node": str(self.gpus),
            "trainer.nnodes": "1",
            "trainer.save_freq": str(self.save_every * self.stride),
            "trainer.test_freq": str(self.test_every * self.stride),
            "trainer.total_training_steps": str(self.steps),
            **dict(self.profile.extra),
        }


def setup(profile: Profile, rng: Rng, size: tuple[int, int] | None = None) -> Setup:
    """Draw a run of `profile`; `size` fixes (steps, stride)."""
    steps, stride = size or SIZES[int(rng.integers(len(SIZES)))]
    rows = steps // stride
    group = int(rng.choice([4, 8, 16]))
    return Setup(
        profile=profile,
        rows=rows,
        stride=stride,
        batch=max(int(rng.choice(BATCHES)), 4 * group),
        group=group,
        gpus=int(rng.choice([1, 4, 8])),
        limit=int(2 ** np.ceil(np.log2(3 * profile.length[1]))),
        test_every=int(rng.choice([5, 10])) if rows < 400 else int(rng.choice([10, 20])),
        save_every=int(rng.choice([20, 50, 100])),
        warmup=int(rng.choice([0, 0, 10, 20])) * stride if rows >= 250 else 0,
        problems=int(rng.choice([200, 500, 1319])),
        unrest=float(rng.uniform(0.02, 0.10)),
        spikes=float(rng.uniform(0.005, 0.02)),
        decimals=3 if rng.random() < 0.15 else None,
    )
