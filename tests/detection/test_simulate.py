"""The simulator: the same seed gives the same run, and each incident does what it says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.detection.degrade import VARIANTS, degrade
from tests.detection.incidents import KINDS, OF_THE_LOG, STRENGTHS
from tests.detection.profiles import PROFILES
from tests.detection.simulate import SEEDS, by_name, incident, population, trap
from tests.detection.trace import Trace
from tests.detection.traps import TRAPS

SIZE = (150, 1)


def fingerprint(trace: Trace) -> tuple[object, ...]:
    values = {name: column.tobytes() for name, column in trace.metrics.items()}
    said = (trace.labels, trace.odd, trace.events, trace.torn, trace.finished, trace.growing)
    return trace.name, trace.steps.tobytes(), values, said


def test_there_are_enough_of_each() -> None:
    assert len(KINDS) >= 30
    assert len(TRAPS) >= 15
    assert set(PROFILES) == {"ppo", "grpo", "dapo", "gspo", "lora", "sft"}


def test_tuning_and_reporting_share_no_seed() -> None:
    assert not set(SEEDS["dev"]) & set(SEEDS["test"])


def test_a_seed_gives_the_same_run_alone_and_among_others() -> None:
    among = {
        trace.name: fingerprint(trace) for trace in population([3], ["low"], None, ["kl-jump", "gpu-oom"], [])
    }
    assert among["kl-jump-low-0003"] == fingerprint(by_name("kl-jump-low-0003"))
    assert fingerprint(by_name("resumed-0003")) == fingerprint(by_name("resumed-0003"))


def test_another_seed_gives_another_run() -> None:
    assert fingerprint(by_name("kl-jump-low-0003")) != fingerprint(by_name("kl-jump-low-0004"))


def test_a_name_that_no_run_has_is_refused() -> None:
    with pytest.raises(ValueError, match="names look like"):
        by_name("kl-jump-extreme-0003")


@pytest.mark.parametrize("name", KINDS)
def test_every_incident_is_labelled_within_its_run(name: str) -> None:
    for seed in range(3):
        trace = incident(KINDS[name], "medium", seed, SIZE)
        (label,) = trace.labels
        assert label.codes == KINDS[name].codes
        assert 0 <= label.first <= label.last <= trace.setup.steps
        assert all(len(values) == trace.rows for values in trace.metrics.values())


#: Kinds with an onset and a strength, whose bend leaves everything before the onset alone.
COMPARABLE = [
    name
    for name, kind in KINDS.items()
    if not kind.whole
    and len(set(kind.forces)) > 1
    and name not in ("validation-left-behind", "restless-score")
]


@pytest.mark.parametrize("name", COMPARABLE)
def test_an_incident_leaves_what_was_before_it_alone_and_changes_what_follows(name: str) -> None:
    """Compared with the same run at another strength: equal before the onset, for the noise is the same."""
    low, high = (incident(KINDS[name], strength, 5, SIZE) for strength in ("low", "high"))
    onset = int(np.searchsorted(low.steps, low.labels[0].first))
    assert low.labels[0].first == high.labels[0].first
    for column, values in low.metrics.items():
        if column.startswith(("timing_", "perf/")):
            continue  # scaled by the mean work of the whole run
        np.testing.assert_array_equal(values[: onset - 1], high.metrics[column][: onset - 1], column)
    assert fingerprint(low) != fingerprint(high)


def change(name: str, column: str, *, seed: int = 1, strength: str = "medium") -> float:
    """Median of `column` in the last quarter of the incident over that of the rows before it."""
    trace = incident(KINDS[name], strength, seed, (250, 1))
    (label,) = trace.labels
    first, last = (int(np.searchsorted(trace.steps, step)) for step in (label.first, label.last))
    values = trace.metrics[column]
    return float(np.nanmedian(values[last - (last - first) // 4 : last + 1]) / np.nanmedian(values[:first]))


@pytest.mark.parametrize(
    ("name", "column", "least", "most"),
    [
        ("stair-jump", "critic/score/mean", 1.3, 9.0),
        ("dead-reward", "critic/advantages/max", 0.0, 0.0),
        ("kl-runaway", "actor/kl_loss", 5.0, 40.0),
        ("kl-explosion", "actor/kl_loss", 50.0, 900.0),
        ("entropy-exhausted", "actor/entropy", 0.0, 0.1),
        ("entropy-cliff", "actor/entropy", 0.05, 0.3),
        ("entropy-explosion", "actor/entropy", 1.5, 6.0),
        ("gradient-explosion", "actor/grad_norm", 10.0, 60.0),
        ("gradient-vanishing", "actor/grad_norm", 0.0, 0.02),
        ("length-blow-up", "response_length/mean", 1.8, 4.0),
        ("length-collapse", "response_length/mean", 0.1, 0.5),
        ("truncation", "response_length/clip_ratio", 8.0, 900.0),
        ("clipping", "actor/pg_clipfrac", 20.0, 900.0),
        ("throughput-decline", "perf/throughput", 0.3, 0.75),
        ("host-leak", "perf/cpu_memory_used_gb", 1.5, 2.4),
        ("rollout-gap", "training/rollout_probs_diff_mean", 3.0, 30.0),
        ("validation-regression", "val-core/sim/acc/mean@1", 0.4, 0.95),
    ],
)
def test_an_incident_moves_its_metric_as_far_as_it_says(
    name: str, column: str, least: float, most: float
) -> None:
    seeds = (seed for seed in range(40) if column in incident(KINDS[name], "medium", seed, (250, 1)).metrics)
    assert least <= change(name, column, seed=next(seeds)) <= most


def test_validations_and_checkpoints_lie_inside_the_step() -> None:
    trace = trap(TRAPS["plain"], 1, SIZE)
    step, testing = trace.metrics["timing_s/step"], trace.metrics["timing_s/testing"]
    tested = np.isfinite(testing)
    assert tested.any()
    assert not tested.all()
    assert step[tested].mean() > step[~tested].mean() + 0.5 * testing[tested].mean()


def test_the_score_is_as_restless_as_sampling_makes_it() -> None:
    ratios = []
    for seed in range(20):
        trace = trap(TRAPS["long-plateau"], seed, (400, 1))
        score = trace.metrics["critic/score/mean"][200:]
        low, high = trace.setup.profile.marks
        p = (score.mean() - low) / (high - low)
        ratios.append(score.std() / ((high - low) * np.sqrt(p * (1 - p) / trace.setup.batch)))
    assert 0.9 <= float(np.median(ratios)) <= 1.4


def test_score_and_kl_rise_together_in_healthy_runs() -> None:
    found = []
    for seed in range(20):
        trace = trap(TRAPS["plain"], seed, (250, 1))
        kl = trace.metrics.get(trace.setup.profile.kl or "")
        if kl is not None:
            found.append(np.corrcoef(kl, trace.metrics["critic/score/mean"])[0, 1])
    assert float(np.median(found)) >= 0.85


def test_a_resume_rewrites_steps_and_says_so() -> None:
    trace = trap(TRAPS["resumed"], 1, SIZE)
    assert trace.segments.max() == 1
    assert not trace.live.all()
    assert any(event.kind == "resumed" for event in trace.events)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_degraded_log_holds_less(variant: str) -> None:
    whole, worse = (incident(KINDS["reward-collapse"], "medium", 2, (1000, 1)) for _ in range(2))
    found = degrade(worse, variant)
    assert found is not None
    assert fingerprint(found) != fingerprint(whole)
    assert found.rows <= whole.rows
    assert "critic/score/mean" in found.metrics


def test_what_happens_to_the_log_itself_is_not_degraded() -> None:
    assert {"step-gap", "gpu-oom"} <= OF_THE_LOG
    assert degrade(incident(KINDS["step-gap"], "medium", 2, SIZE), "holes") is None


def test_all_strengths_have_their_own_force() -> None:
    for kind in KINDS.values():
        assert len(kind.forces) == len(STRENGTHS)
        assert kind.bend or kind.scar
