"""Facts of a run: from run.toml, else its configuration, else what it logged, else its path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.archive.gather import Gatherer
from sitegen.archive.ids import stem
from sitegen.archive.layout import tells_nothing
from sitegen.archive.runtoml import RunToml, name_of
from sitegen.archive.stage import Staged
from sitegen.archive.summary import STEP_SECONDS

_ESTIMATORS = {
    "gae": "PPO", "grpo": "GRPO", "grpo_passk": "GRPO", "grpo_vectorized": "GRPO",
    "reinforce_plus_plus": "REINFORCE++", "reinforce_plus_plus_baseline": "REINFORCE++",
    "rloo": "RLOO", "rloo_vectorized": "RLOO", "remax": "ReMax", "opo": "OPO", "gpg": "GPG",
    "gspo": "GSPO", "dapo": "DAPO", "gdpo": "GDPO",
}  # fmt: skip
_LONGEST = 1e10  # seconds
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?$")


@dataclass(frozen=True, slots=True)
class Known:
    """All sources of one run, joined; the first source that says something wins."""

    path: str
    toml: RunToml
    config: Mapping[str, str]
    facts: Mapping[str, str]
    metrics: frozenset[str]

    def setting(self, *keys: str) -> str | None:
        """First of `keys` that is set to something."""
        for key in keys:
            value = self.config.get(key, "").strip().strip("'\"")
            if value and value.lower() not in ("none", "null", "???", "~"):
                return value
        return None

    def count(self, *keys: str) -> int | None:
        """A whole number above zero under one of `keys`."""
        value = self.setting(*keys)
        if value is None or not _NUMBER.match(value):
            return None
        number = float(value)
        return int(number) if number >= 1 and number == int(number) else None

    def yes(self, key: str) -> bool:
        """Whether a setting is on."""
        return (self.setting(key) or "").lower() in ("true", "1", "yes", "on")


def known(
    path: str, toml: RunToml, config: Mapping[str, str], staged: Sequence[Staged], gatherer: Gatherer
) -> Known:
    """Join what all sources say."""
    facts: dict[str, str] = {}
    for each in staged:
        facts = {**each.facts, **facts}
    return Known(path, toml, config, dict(sorted(facts.items())), frozenset(gatherer.names))


def title(run: Known) -> str:
    """run.toml, else the last part of the path; where that tells nothing, the name given in a tracker."""
    last = run.path.rpartition("/")[2]
    numbered = run.facts.get("run_id") or "/"
    named = run.facts.get("title") or run.facts.get("experiment")
    told = run.toml.text("title") or (named if numbered in last or tells_nothing(last) else None)
    return name_of(told or stem(last))


def project(run: Known) -> str | None:
    """run.toml, else trainer.project_name, else what a tracker says, else the folder above the run."""
    said = run.toml.text("project") or run.setting("trainer.project_name") or run.facts.get("project")
    said = said or (run.path.split("/")[-2] if "/" in run.path else None)
    return None if said is None else name_of(said)


def experiment(run: Known) -> str:
    """run.toml, else trainer.experiment_name, else what a tracker says, else the last part of the path."""
    said = (
        run.toml.text("experiment") or run.setting("trainer.experiment_name") or run.facts.get("experiment")
    )
    return name_of(said or stem(run.path.rpartition("/")[2]))


def algorithm(run: Known) -> str | None:
    """run.toml, else the advantage estimator (with the signs of DAPO and GSPO), else the metrics."""
    if said := run.toml.text("algorithm"):
        return said
    estimator = (run.setting("algorithm.adv_estimator") or "").rpartition(".")[2].lower()
    named = _ESTIMATORS.get(estimator, estimator.upper() or None)
    if named == "GRPO":
        return _grpo_variant(run)
    if named:
        return named
    if _is_sft(run.metrics):
        return "SFT"
    return "PPO" if "critic/vf_loss" in run.metrics or "critic/vf_explained_var" in run.metrics else None


def _grpo_variant(run: Known) -> str:
    if (run.setting("actor_rollout_ref.actor.policy_loss.loss_mode") or "").lower() == "gspo":
        return "GSPO"
    low = run.setting("actor_rollout_ref.actor.clip_ratio_low")
    high = run.setting("actor_rollout_ref.actor.clip_ratio_high")
    wider = low is not None and high is not None and low != high
    sampled = run.yes("algorithm.filter_groups.enable")
    overlong = run.yes("reward_model.overlong_buffer.enable")
    return "DAPO" if sampled or (wider and overlong) else "GRPO"


def _is_sft(metrics: frozenset[str]) -> bool:
    rewarded = any(name.startswith(("critic/", "actor/")) or "reward" in name for name in metrics)
    return "train/loss" in metrics and not rewarded


def model(run: Known) -> str | None:
    """run.toml, else the last part of the model's path (of a Hugging Face cache: the model's name)."""
    if said := run.toml.text("model"):
        return said
    path = run.setting(
        "actor_rollout_ref.model.path", "model.path", "model.partial_pretrain", "actor.model.path"
    )
    if path is None:
        return None
    cached = re.search(r"models--[^/]+--([^/]+)", path)
    if cached:
        return cached[1]
    parts = [part for part in path.rstrip("/").split("/") if part]
    while len(parts) > 1 and re.fullmatch(
        r"(global_step_\d+|actor|huggingface|checkpoint-\d+|snapshots)", parts[-1]
    ):
        parts.pop()
    return name_of(parts[-1]) if parts else None


_COUNTED = re.compile(r"([1-9]\d{0,5})\s*[x×*]\s*\D")  # "8 x H100", "8× H100"


def gpus(run: Known) -> int | None:
    """run.toml (`gpus`, or `hardware = "8 x H100"`), else GPUs per node x nodes, else what the log states."""
    said = run.toml.number("gpus")
    if said is not None:
        return said
    if counted := _COUNTED.match(run.toml.text("hardware") or ""):
        return int(counted[1])
    per_node = run.count("trainer.n_gpus_per_node")
    if per_node is not None:
        return per_node * (run.count("trainer.nnodes") or 1)
    stated = run.facts.get("gpus", "")
    return int(stated) if stated.isdigit() and int(stated) > 0 else None


def hardware(run: Known) -> str | None:
    """run.toml, else "<gpus> x <name>" where the log names its GPUs."""
    if said := run.toml.text("hardware"):
        return said
    name, count = run.facts.get("gpu") or run.facts.get("hardware"), gpus(run)
    if not name:
        return None
    return f"{count} x {name}" if count and not name[0].isdigit() else name


def planned_steps(run: Known) -> int | None:
    """run.toml, else trainer.total_training_steps, else what the log states."""
    stated = run.facts.get("planned_steps") or run.facts.get("total_training_steps") or ""
    return (
        run.toml.number("planned_steps")
        or run.count("trainer.total_training_steps")
        or (int(stated) if stated.isdigit() and int(stated) > 0 else None)
    )


def wall_seconds(all_rows: Mapping[str, float], started: float | None, ended: float | None) -> float | None:
    """Sum of the logged step times over all rows, rewritten ones were paid for too; else end - start.

    A sum that is negative, infinite or longer than three centuries is no time that passed.
    """
    for name in STEP_SECONDS:
        if 0 <= all_rows.get(name, -1.0) < _LONGEST:
            return all_rows[name]
    if started is None or ended is None or ended <= started:
        return None
    return ended - started
