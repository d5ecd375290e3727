"""Settings of a run, and the nested dictionary that verl would print for them."""

from __future__ import annotations

from dataclasses import dataclass

from .algorithms.losses import Clip
from .task import Teacher

TEACHER = Teacher()
CLIP = Clip()


@dataclass(frozen=True, slots=True)
class Config:
    """Defaults are a sound GRPO run. Comments give verl's key where its name differs."""

    project: str
    experiment: str
    seed: int = 1
    steps: int = 300  # trainer.total_training_steps
    # data
    digits: tuple[int, int] = (7, 13)
    train_prompts: int = 2048
    batch: int = 48  # data.train_batch_size, prompts
    max_prompt_length: int = 32
    max_response_length: int = 64
    # base policy
    teacher: Teacher = TEACHER
    # rollout and reward
    group: int = 8  # actor_rollout_ref.rollout.n
    checker: str = "strict"
    length_cost: float = 0.0  # custom_reward_function.reward_kwargs.length_cost
    filter_groups: bool = False  # algorithm.filter_groups.enable
    overlong_buffer: int = 0  # reward_model.overlong_buffer.len
    # actor
    optimizer: str = "adam"
    lr: float = 1e-3
    lr_warmup_steps: int = 0
    clip: Clip = CLIP
    grad_clip: float = 1.0
    entropy_coeff: float = 0.0
    entropy_warmup_steps: int = 0  # actor_rollout_ref.actor.entropy_coeff_warmup_steps
    use_kl_loss: bool = True
    kl_loss_coef: float = 0.04
    kl_loss_type: str = "low_var_kl"
    mini_batches: int = 4
    exponent: str = "float32"
    # critic; "gae" needs one
    adv_estimator: str = "grpo"
    kl_coef: float = 0.0  # algorithm.kl_ctrl.kl_coef, > 0 switches use_kl_in_reward on
    gamma: float = 1.0
    lam: float = 1.0
    critic_lr: float = 4e-3
    critic_lr_warmup_steps: int = 0
    critic_warmup: int = 0
    value_clip: float = 0.5
    # trainer
    test_freq: int = 20
    save_freq: int = 50
    val_n: int = 1
    gpus: int = 2
    gpu_memory_gb: float = 79.1

    @property
    def has_critic(self) -> bool:
        return self.adv_estimator == "gae"

    @property
    def has_reference(self) -> bool:
        return self.use_kl_loss or self.kl_coef > 0

    @property
    def sequences(self) -> int:
        return self.batch * self.group

    @property
    def folder(self) -> str:
        """Where the run's checkpoints would lie."""
        return f"checkpoints/{self.project}/{self.experiment}"


def printed(config: Config) -> dict[str, object]:
    """The part of verl's configuration that these runs have, under verl's keys."""
    tree: dict[str, object] = {
        "custom_reward_function": {"reward_kwargs": {"length_cost": config.length_cost}},
        "actor_rollout_ref": {"actor": _actor(config), "model": _model(), "rollout": _rollout(config)},
        "algorithm": _algorithm(config),
        "data": _data(config),
        "reward_model": _reward(config),
        "trainer": _trainer(config),
    }
    if config.has_critic:
        tree["critic"] = _critic(config)
    return tree


def _actor(config: Config) -> dict[str, object]:
    return {
        "clip_ratio": config.clip.low,
        "clip_ratio_c": config.clip.dual,
        "clip_ratio_high": config.clip.high,
        "clip_ratio_low": config.clip.low,
        "entropy_coeff": config.entropy_coeff,
        "entropy_coeff_warmup_steps": config.entropy_warmup_steps,
        "grad_clip": config.grad_clip,
        "kl_loss_coef": config.kl_loss_coef,
        "kl_loss_type": config.kl_loss_type,
        "loss_agg_mode": "token-mean",
        "optim": {
            "lr": config.lr,
            "lr_warmup_steps": config.lr_warmup_steps,
            "optimizer": config.optimizer,
            "total_training_steps": config.steps,
            "weight_decay": 0.0,
        },
        "ppo_epochs": 1,
        "ppo_mini_batch_size": config.batch // config.mini_batches,
        "softmax_dtype": config.exponent,
        "use_kl_loss": config.use_kl_loss,
    }


def _model() -> dict[str, object]:
    return {"path": "tinyrl/running-sum-base", "external_lib": None}


def _rollout(config: Config) -> dict[str, object]:
    return {
        "n": config.group,
        "name": "numpy",
        "temperature": 1.0,
        "top_k": -1,
        "top_p": 1,
        "val_kwargs": {"do_sample": True, "n": config.val_n, "temperature": 1.0},
    }


def _algorithm(config: Config) -> dict[str, object]:
    return {
        "adv_estimator": config.adv_estimator,
        "filter_groups": {"enable": config.filter_groups, "max_num_gen_batches": 4, "metric": "score"},
        "gamma": config.gamma,
        "kl_ctrl": {"kl_coef": config.kl_coef, "type": "fixed"},
        "kl_penalty": "kl",
        "lam": config.lam,
        "norm_adv_by_std_in_grpo": True,
        "use_kl_in_reward": config.kl_coef > 0,
    }


def _data(config: Config) -> dict[str, object]:
    return {
        "max_prompt_length": config.max_prompt_length,
        "max_response_length": config.max_response_length,
        "seed": config.seed,
        "train_batch_size": config.batch,
        "train_files": "data/running_sum/train.parquet",
        "val_files": ["data/running_sum/heldout.parquet", "data/running_sum/longer.parquet"],
    }


def _reward(config: Config) -> dict[str, object]:
    return {
        "enable": False,
        "overlong_buffer": {"enable": config.overlong_buffer > 0, "len": config.overlong_buffer},
        "reward_manager": config.checker,
    }


def _critic(config: Config) -> dict[str, object]:
    return {
        "cliprange_value": config.value_clip,
        "grad_clip": config.grad_clip,
        "model": {"path": "tinyrl/running-sum-critic"},
        "optim": {"lr": config.critic_lr, "lr_warmup_steps": config.critic_lr_warmup_steps},
    }


def _trainer(config: Config) -> dict[str, object]:
    return {
        "critic_warmup": config.critic_warmup,
        "default_local_dir": config.folder,
        "experiment_name": config.experiment,
        "logger": ["console", "file"],
        "n_gpus_per_node": config.gpus,
        "nnodes": 1,
        "project_name": config.project,
        "resume_mode": "auto",
        "save_freq": config.save_freq,
        "test_freq": config.test_freq,
        "total_epochs": -(-config.steps * config.batch // config.train_prompts),
        "total_training_steps": config.steps,
        "val_before_train": True,
    }
