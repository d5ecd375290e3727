"""Precision and seeds, out of a configuration."""

from __future__ import annotations

from sitegen.reports.setup import precision, seeds

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"


def test_formats_of_training_weights_and_rollout_are_told_in_one_spelling() -> None:
    config = {
        f"{ACTOR}.fsdp_config.mixed_precision.param_dtype": "'bfloat16'",
        f"{ACTOR}.fsdp_config.model_dtype": "fp32",
        f"{ROLLOUT}.dtype": "float16",
    }
    assert precision(config) == ("training in bf16", "weights kept in fp32", "rollout in fp16")


def test_quantization_and_the_cache_are_told_where_they_are_set() -> None:
    config = {f"{ROLLOUT}.quantization": "fp8", f"{ROLLOUT}.engine_kwargs.vllm.kv_cache_dtype": "fp8_e5m2"}
    assert precision(config) == ("rollout quantized to fp8", "cache of keys and values in fp8_e5m2")
    unset = {f"{ROLLOUT}.quantization": "None", f"{ROLLOUT}.engine_kwargs.vllm.kv_cache_dtype": "auto"}
    assert precision(unset) == ()


def test_megatron_has_a_format_of_its_own() -> None:
    assert precision({f"{ACTOR}.megatron.dtype": "bfloat16"}) == ("training in bf16",)


def test_a_seed_that_is_not_set_is_told_where_the_key_is_there() -> None:
    config = {"data.seed": "None", f"{ACTOR}.data_loader_seed": "42", f"{ACTOR}.fsdp_config.seed": "42"}
    assert seeds(config) == ("data not set", "mini-batches 42", "trainer 42")
    assert seeds({}) == ()
