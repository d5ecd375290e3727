"""What a configuration says of numbers and of chance: precision and seeds, in verl's keys of all versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_ACTOR, _ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
_ENGINES = ("fsdp_config", "megatron", "veomni", "torchtitan", "automodel")
_UNSET = {"", "none", "null", "~", "???", "auto"}
_FORMATS = {
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32",
    "torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.float32": "fp32",
}  # fmt: skip
_LONGEST = 40

#: What is said -> keys, the first that is set counts.
_PRECISION: Mapping[str, tuple[str, ...]] = {
    "training in {}": (
        f"{_ACTOR}.fsdp_config.mixed_precision.param_dtype",
        *(f"{_ACTOR}.{engine}.{key}" for engine in _ENGINES for key in ("dtype", "mp_param_dtype")),
    ),
    "weights kept in {}": tuple(f"{_ACTOR}.{engine}.model_dtype" for engine in _ENGINES),
    "rollout in {}": (f"{_ROLLOUT}.dtype",),
    "rollout quantized to {}": (f"{_ROLLOUT}.quantization",),
    "cache of keys and values in {}": (
        f"{_ROLLOUT}.engine_kwargs.vllm.kv_cache_dtype",
        f"{_ROLLOUT}.engine_kwargs.sglang.kv_cache_dtype",
    ),
}
_SEEDS: Mapping[str, tuple[str, ...]] = {
    "data": ("data.seed",),
    "mini-batches": (f"{_ACTOR}.data_loader_seed",),
    "trainer": tuple(f"{_ACTOR}.{engine}.seed" for engine in _ENGINES),
    "rollout": (f"{_ROLLOUT}.seed",),
}


def precision(config: Mapping[str, str]) -> tuple[str, ...]:
    """`training in bf16`, `weights kept in fp32`, …; nothing for what is not set."""
    found = ((text, _first(config, keys)) for text, keys in _PRECISION.items())
    return tuple(text.format(_FORMATS.get(value, value)) for text, value in found if value)


def seeds(config: Mapping[str, str]) -> tuple[str, ...]:
    """`data 42`, …, and `data not set` where the key is there without a value."""
    return tuple(_seeds(config))


def _seeds(config: Mapping[str, str]) -> Iterator[str]:
    for name, keys in _SEEDS.items():
        if value := _first(config, keys):
            yield f"{name} {value}"
        elif any(key in config for key in keys):
            yield f"{name} not set"


def _first(config: Mapping[str, str], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = config.get(key, "").strip().strip("'\"").lower()[:_LONGEST]
        if value not in _UNSET:
            return value
    return ""
