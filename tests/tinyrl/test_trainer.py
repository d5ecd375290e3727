"""Training really happens, and happens the same way twice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from .config import Config
from .costs import OutOfMemoryError
from .measures import Metrics
from .rollout import sample
from .task import EOS, Teacher
from .trainer import HELD_OUT, Trainer

TINY = Config(
    "p",
    "e",
    seed=1,
    steps=12,
    digits=(3, 5),
    batch=12,
    train_prompts=96,
    max_response_length=24,
    teacher=Teacher(lessons=100),
)
TEACHER = Teacher(lessons=400)
PPO = replace(TINY, adv_estimator="gae", use_kl_loss=False, kl_coef=0.02, critic_warmup=2)


def train(config: Config, steps: int) -> list[Metrics]:
    trainer = Trainer(config)
    return [trainer.step() for _ in range(steps)]


@pytest.fixture(scope="module")
def records() -> list[Metrics]:
    return train(TINY, 4)


def test_a_policy_learns() -> None:
    trainer = Trainer(replace(TINY, lr=4e-3, batch=24, digits=(3, 4), teacher=TEACHER))
    scores = [trainer.step()["critic/score/mean"] for _ in range(40)]
    assert np.mean(scores[-5:]) > np.mean(scores[:5]) + 0.2


def test_two_runs_of_one_seed_agree_to_the_last_bit(records: list[Metrics]) -> None:
    assert train(TINY, 4) == records


def test_the_first_step_starts_at_the_reference(records: list[Metrics]) -> None:
    assert 0.0 <= records[0]["actor/kl_loss"] < 0.01


def test_the_reference_kl_is_never_negative(records: list[Metrics]) -> None:
    assert all(record["actor/kl_loss"] >= 0.0 for record in records)


def test_identities_that_verl_promises_hold(records: list[Metrics]) -> None:
    for record in records:
        assert record["perf/time_per_step"] == record["timing_s/step"]
        per_gpu = record["perf/total_num_tokens"] / (record["timing_s/step"] * TINY.gpus)
        assert record["perf/throughput"] == pytest.approx(per_gpu)
        for end in ("mean", "max", "min"):
            assert record[f"critic/returns/{end}"] == record[f"critic/advantages/{end}"]
            assert record[f"critic/rewards/{end}"] == record[f"critic/score/{end}"]


def test_a_step_logs_as_many_metrics_as_verl_does(records: list[Metrics]) -> None:
    assert 40 <= len(records[0]) <= 75


def test_steps_of_validation_carry_held_out_accuracy() -> None:
    records = train(replace(TINY, test_freq=2), 2)
    core = f"val-core/{HELD_OUT}/acc/mean@1"
    assert core not in records[0]
    assert 0.0 <= records[1][core] <= 1.0


def test_best_of_n_is_not_below_the_mean() -> None:
    found, _ = Trainer(replace(TINY, val_n=4)).validate()
    assert found[f"val-aux/{HELD_OUT}/acc/best@4/mean"] >= found[f"val-core/{HELD_OUT}/acc/mean@4"]


def test_the_actor_rests_while_the_critic_warms_up() -> None:
    first, _, third = train(PPO, 3)
    assert "critic/vf_loss" in first
    assert "actor/pg_loss" not in first
    assert "actor/pg_loss" in third


def test_with_kl_in_the_reward_rewards_fall_below_scores() -> None:
    record = train(replace(PPO, kl_coef=5.0), 6)[-1]
    assert record["critic/rewards/mean"] != record["critic/score/mean"]


def test_a_critic_comes_to_explain_some_variance() -> None:
    trainer = Trainer(replace(PPO, critic_warmup=0, teacher=TEACHER))
    explained = [trainer.step()["critic/vf_explained_var"] for _ in range(30)]
    assert explained[-1] > max(explained[0], 0.1)


def test_dynamic_sampling_replaces_groups_without_variance() -> None:
    easy = replace(TINY, digits=(1, 2), checker="exact", teacher=Teacher(slips=0.0, lessons=200))
    plain, filtered = train(easy, 1)[0], train(replace(easy, filter_groups=True), 1)[0]
    assert filtered["train/num_gen_batches"] >= 2
    assert filtered["critic/score/mean"] < plain["critic/score/mean"]
    assert filtered["timing_s/gen"] > plain["timing_s/gen"]


def test_a_length_cost_is_taken_from_the_score() -> None:
    free, costly = train(TINY, 1)[0], train(replace(TINY, length_cost=0.01), 1)[0]
    paid = free["critic/score/mean"] - costly["critic/score/mean"]
    assert paid == pytest.approx(0.01 * free["response_length/mean"])


def test_a_group_that_is_always_wrong_gives_no_gradient() -> None:
    hopeless = replace(TINY, checker="proof", digits=(12, 14), max_response_length=8, use_kl_loss=False)
    record = train(hopeless, 1)[0]
    assert record["response_length/clip_ratio"] > 0.9
    assert record["critic/score/max"] == 0.0
    assert record["actor/grad_norm"] == 0.0


def test_an_overflow_turns_everything_after_it_into_nan() -> None:
    trainer = Trainer(replace(TINY, exponent="float16"))
    trainer.actor.net.weights["b2"] += np.float32(12.0)
    metrics = trainer.step()
    assert math.isnan(metrics["actor/entropy"])
    assert math.isnan(metrics["actor/grad_norm"])
    assert trainer.step()["response_length/clip_ratio"] == 1.0  # token 0 for ever


def test_a_gpu_that_is_too_small_raises_what_torch_would() -> None:
    with pytest.raises(OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate \d+\.\d\d GiB"):
        train(replace(TINY, gpu_memory_gb=44.0), 1)


def test_a_restored_run_continues_from_the_saved_weights() -> None:
    trainer = Trainer(TINY)
    trainer.step()
    saved = trainer.checkpoint()
    trainer.step()
    resumed = Trainer(TINY, resumed=1)
    resumed.restore(saved)
    assert resumed.finished == 1
    assert (resumed.actor.net.weights["w1"] == saved.actor.net.weights["w1"]).all()
    assert resumed.step()["training/global_step"] == 2


def test_a_checkpoint_is_not_changed_by_further_training() -> None:
    trainer = Trainer(TINY)
    saved = trainer.checkpoint()
    kept = saved.actor.net.weights["w1"].copy()
    trainer.step()
    assert (saved.actor.net.weights["w1"] == kept).all()
    assert (trainer.actor.net.weights["w1"] != kept).any()


def test_a_response_ends_with_its_first_end_token_or_at_the_cap() -> None:
    trainer = Trainer(TINY)
    rollouts = sample(trainer.actor.net, trainer.train, 24, np.random.default_rng(0))
    for response in rollouts.responses():
        assert EOS not in response[:-1]
        assert response[-1] == EOS or len(response) == 24
