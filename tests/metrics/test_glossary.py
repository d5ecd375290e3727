from __future__ import annotations

from collections import Counter

import pytest

from sitegen.metrics import GROUPS, glossary

RULES_RELY_ON = """
score score_max score_min rewards kl_ref kl_coef ppo_kl rollout_kl entropy pg_loss actor_loss clipfrac
clipfrac_lower grad_norm lr vf_loss vf_clipfrac vf_explained_var vpred_mean critic_grad_norm critic_lr
advantages_mean advantages_max advantages_min returns_mean returns_max returns_min values_mean response_length
response_length_max response_length_min response_clip_ratio aborted_ratio prompt_length prompt_length_max
prompt_clip_ratio num_turns throughput mfu mem_allocated_gb mem_reserved_gb cpu_mem_gb total_tokens time_step
time_gen time_reward time_old_log_prob time_ref time_values time_adv time_update_critic time_update_actor
time_update_weights time_testing time_save_checkpoint time_per_step epoch global_step probs_diff_mean
probs_diff_max pearson_corr num_gen_batches train_loss val_loss
"""


def test_every_key_that_rules_rely_on_exists() -> None:
    assert [key for key in RULES_RELY_ON.split() if glossary().by_key(key) is None] == []


def test_keys_and_names_are_unique() -> None:
    keys = Counter(metric.key for metric in glossary().metrics)
    names = Counter(name for metric in glossary().metrics for name in metric.names)
    assert [key for key, times in (keys + names).items() if keys[key] > 1 or names[key] > 1] == []


def test_keys_are_snake_case_and_so_can_be_columns() -> None:
    assert [m.key for m in glossary().metrics if not (m.key.isidentifier() and m.key.islower())] == []


def test_every_entry_is_complete_and_short() -> None:
    for entry in (*glossary().metrics, *glossary().families):
        assert entry.title and entry.group in GROUPS, entry
        assert entry.better in ("up", "down", "band", "neither"), entry
        assert 0 < len(entry.meaning) <= 120, entry
        assert entry.meaning.endswith("."), entry


def test_every_name_says_who_writes_it() -> None:
    book = glossary()
    assert [name for m in book.metrics for name in m.names if not book.written_by(name)] == []


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("timing/gen", "time_gen"),
        ("mfu/actor", "mfu"),
        ("actor/entropy_loss", "entropy"),
        ("critic/kl", "kl_ref"),
        ("critic/kl_coeff", "kl_coef"),
        ("actor/perf/max_memory_allocated_gb", "mem_allocated_gb"),
        ("mismatch/mismatch_kl", "rollout_kl"),
        ("timing_s/timing_s/param_sync", "time_param_sync"),
        ("reward_mean", "score"),
        ("kl_div", "kl_ref"),
        ("actor_loss", "pg_loss"),
        ("critic_loss", "vf_loss"),
        ("lr_actor", "lr"),
        ("grad_norm_actor", "grad_norm"),
        ("tokens_per_sec", "throughput"),
        ("train/loss", "train_loss"),
        ("val/loss", "val_loss"),
    ],
)
def test_older_and_foreign_names_lead_to_the_same_metric(raw: str, key: str) -> None:
    metric = glossary().by_name(raw)
    assert metric is not None and metric.key == key


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("critic/grad_norm", "critic_grad_norm"),
        ("critic/lr", "critic_lr"),
        ("critic/loss", "critic_total_loss"),
    ],
)
def test_a_critic_is_never_taken_for_the_actor(raw: str, key: str) -> None:
    assert glossary().canonical([raw]) == {raw: key}


def test_an_ending_alone_means_nothing() -> None:
    assert glossary().by_name("teacher/grad_norm") is None
    assert glossary().canonical(["teacher/grad_norm"]) == {"teacher/grad_norm": "teacher/grad_norm"}


def test_of_several_names_of_one_metric_the_first_gets_the_key() -> None:
    names = ["critic/kl", "kl_div", "actor/reward_kl_penalty", "actor/kl_loss"]
    assert glossary().canonical(names) == {
        "critic/kl": "critic/kl",
        "kl_div": "kl_div",
        "actor/reward_kl_penalty": "actor/reward_kl_penalty",
        "actor/kl_loss": "kl_ref",
    }


def test_entropy_of_the_rollout_pass_comes_before_that_of_the_update() -> None:
    keys = glossary().canonical(["actor/entropy_loss", "actor/entropy"])
    assert keys == {"actor/entropy_loss": "actor/entropy_loss", "actor/entropy": "entropy"}


def test_two_names_of_a_run_never_meet_in_one_column() -> None:
    # the last is the seed dialect's name of pg_loss and also spells the key of another metric
    keys = glossary().canonical(["actor/loss", "actor/pg_loss", "actor_loss"])
    assert keys == {"actor/loss": "actor_loss", "actor/pg_loss": "pg_loss", "actor_loss": "raw:actor_loss"}


@pytest.mark.parametrize(
    ("raw", "scale"),
    [("actor/lr(1e-4)", 1e-4), ("critic/lr(1e-4)", 1e-4), ("train/lr(1e-3)", 1e-3), ("x", 1)],
)
def test_scale_takes_the_logged_number_to_its_unit(raw: str, scale: float) -> None:
    assert glossary().scale(raw) == scale


def test_a_number_for_all_gpus_is_divided_by_them_where_they_are_known() -> None:
    assert glossary().scale("tokens_per_sec", 8) == 1 / 8
    assert glossary().scale("tokens_per_sec", None) == 1.0
    assert glossary().scale("perf/throughput", 8) == 1.0


@pytest.mark.parametrize(
    ("raw", "group", "better"),
    [
        ("val-core/openai/gsm8k/reward/mean@1", "validation", "up"),
        ("val-aux/AIME2025/acc/std@32", "validation", "neither"),
        ("val-aux/AIME2025/acc/worst@32/mean", "validation", "neither"),
        ("val-aux/AIME2025/acc/best@32/std", "validation", "neither"),
        ("val/test_score/openai/gsm8k", "validation", "up"),
        ("timing_s/my_own_part", "speed", "down"),
        ("perf/mfu/ref", "speed", "up"),
        ("rollout/moe/max_vio/layer_3", "rollout", "down"),
        ("rollout_corr/rollout_rs_token_k1_masked_fraction", "rollout", "down"),
    ],
)
def test_families_have_a_group_and_a_direction_but_no_key(raw: str, group: str, better: str) -> None:
    metric = glossary().by_name(raw)
    assert metric is not None
    assert (metric.key, metric.group, metric.better) == (raw, group, better)
    assert glossary().canonical([raw]) == {raw: raw}


def test_unknown_names_are_described_as_other() -> None:
    metric = glossary().describe("episode/length")
    assert (metric.key, metric.group, metric.better) == ("episode/length", "other", "neither")
    assert glossary().group_of("episode/length") == "other"


def test_page_order_is_by_group_then_as_written_then_by_name() -> None:
    book = glossary()
    raws = ["zeta", "actor/entropy", "val-core/b/acc/mean@1", "actor/kl_loss", "val-core/a/acc/mean@1"]
    raws = [metric.key for metric in sorted((book.describe(raw) for raw in raws), key=book.place)]
    assert raws == ["kl_ref", "entropy", "val-core/a/acc/mean@1", "val-core/b/acc/mean@1", "zeta"]
