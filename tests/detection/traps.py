"""What looks wrong and is healthy: no rule may raise a warning here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tests.detection import otherhand
from tests.detection.curves import Curves, progress
from tests.detection.habits import announced_resume
from tests.detection.profiles import RL, WITH_KL, Rng
from tests.detection.trace import Trace


@dataclass(frozen=True, slots=True)
class Trap:
    """A healthy run with a temptation. `size` fixes (steps, stride)."""

    name: str
    bend: Callable[[Curves, Rng], None] | None = None
    scar: Callable[[Trace, Rng], None] | None = None
    profiles: tuple[str, ...] = RL
    size: tuple[int, int] | None = None


def nothing_special(curves: Curves, rng: Rng) -> None:
    """An ordinary run."""


def costly_checkpoints(curves: Curves, rng: Rng) -> None:
    """Validations and checkpoints take several times as long as the steps they fall into."""
    rows = np.arange(1, curves.rows + 1)
    curves["stall"] = 90.0 * (rows % curves.setup.save_every == 0)


def in_the_step(trace: Trace, rng: Rng) -> None:
    """Puts that time where verl logs it."""
    seconds = trace.metrics["timing_s/save_checkpoint"]
    trace.metrics["timing_s/save_checkpoint"] = np.where(np.isnan(seconds), np.nan, seconds + 90.0)


def format_learning(curves: Curves, rng: Rng) -> None:
    """Within a few dozen steps the format is learned: score up steeply, entropy and length down, KL up."""
    up = curves.ramp(max(3, int(0.03 * curves.rows)), 0.08 * curves.rows)
    slow = 0.2 * np.clip(progress(curves), 0, 1)
    low, high = rng.uniform(0.0, 0.05), rng.uniform(0.35, 0.6)
    curves["right"] = low + (high - low) * up + slow
    curves["val"] = 0.9 * curves["right"]
    curves["entropy"] = curves["entropy"][0] * (1 - 0.7 * up) * (1 - 0.3 * curves.part)
    curves["length"] = curves["length"][0] * (1 - rng.uniform(0.2, 0.35) * up)
    if "kl" in curves:
        curves["kl"] = 0.002 + rng.uniform(0.05, 0.12) * up + 0.08 * curves.part


def curriculum(curves: Curves, rng: Rng) -> None:
    """Harder tasks come in, announced by longer prompts: the score drops and climbs again."""
    first = int(rng.uniform(0.4, 0.6) * curves.rows)
    new = curves.ramp(first, 1)
    climb = curves.ramp(first, 0.3 * curves.rows)
    gain = float(curves["right"][first] - curves["right"][0])
    curves["right"] = np.clip(curves["right"] - 0.3 * gain * new * (1 - climb), 0.01, 0.98)
    curves["prompt"] *= 1 + 0.5 * new
    curves["length"] *= 1 + 0.15 * new


def slow_warmup(curves: Curves, rng: Rng) -> None:
    """The learning rate rises through the first tenth; little happens there."""
    held = curves.ramp(0, 0.1 * curves.rows)
    curves["lr"] = 1e-6 * held
    for name in ("right", "val"):
        curves[name] = curves[name][0] + (curves[name] - curves[name][0]) * held
    if "kl" in curves:
        curves["kl"] = 0.0003 + (curves["kl"] - curves["kl"][0]) * held


def decaying_rate(curves: Curves, rng: Rng) -> None:
    """A cosine schedule takes the learning rate to a tenth."""
    curves["lr"] = 1e-6 * (0.1 + 0.45 * (1 + np.cos(np.pi * curves.part)))
    curves["grad"] *= 1 - 0.2 * curves.part


def wide_clip(curves: Curves, rng: Rng) -> None:
    """A wide upper clip range: entropy rises on purpose, and the score with it."""
    curves["entropy"] = curves["entropy"][0] * (1 + rng.uniform(0.3, 0.9) * np.clip(progress(curves), 0, 1))


def lone_spikes(trace: Trace, rng: Rng) -> None:
    """A few isolated spikes of the gradient norm, 3 to 25 times the usual."""
    rows = np.arange(trace.rows // 5, trace.rows, max(36, trace.rows // 6))
    values = trace.metrics["actor/grad_norm"]
    values[rows] = float(np.nanmedian(values)) * np.exp(rng.uniform(np.log(3), np.log(25), len(rows)))


def small_batch(curves: Curves, rng: Rng) -> None:
    """Few answers per step: the score is restless, nothing else."""
    curves["unrest"] = max(1.0, float(np.sqrt(curves.setup.batch / 64)))


def auxiliary_nan(trace: Trace, rng: Rng) -> None:
    """A metric that has nothing to average now and then."""
    rows = np.flatnonzero(rng.random(trace.rows) < 0.3)
    trace.metrics["actor/on_pg_loss"] = rng.normal(0, 0.01, trace.rows)
    trace.break_value("actor/on_pg_loss", rows)


def growing_answers(curves: Curves, rng: Rng) -> None:
    """Answers grow to more than twice their length while the score climbs; few are cut off."""
    curves["length"] *= 1 + rng.uniform(0.8, 1.6) * np.clip(progress(curves), 0, 1)
    curves["cut"] = 0.005


def strong_start(curves: Curves, rng: Rng) -> None:
    """The model can do the task from the first step; there is nothing to gain."""
    curves["right"] = rng.uniform(0.92, 0.96) + 0.015 * curves.part
    curves["val"] = curves["right"] - 0.02
    curves["length"] = curves["length"][0]


def late_climb(curves: Curves, rng: Rng) -> None:
    """A quarter of the run passes before the score starts to move."""
    start = rng.uniform(0.1, 0.3)
    curves["right"] = start + 0.5 * curves.ramp(int(0.25 * curves.rows), 0.4 * curves.rows)
    curves["val"] = 0.95 * curves["right"]


def long_plateau(curves: Curves, rng: Rng) -> None:
    """All there is to learn is learned in the first fifth; the KL creeps on by a fifth of its level."""
    learned = curves.ramp(0, 0.2 * curves.rows)
    for name in ("right", "val", "length"):
        curves[name] = curves[name][0] + (curves[name][-1] - curves[name][0]) * learned
    if "kl" in curves:
        curves["kl"] = 0.001 + curves["kl"][-1] * (0.8 * learned + 0.2 * curves.part)


def rising_kl(curves: Curves, rng: Rng) -> None:
    """The KL rises with the score, all the way, further than in most runs."""
    curves["kl"] = 0.001 + rng.uniform(0.25, 0.45) * np.clip(progress(curves), 0, 1) ** 1.2


def used_entropy(curves: Curves, rng: Rng) -> None:
    """Entropy ends near an eighth of its start, as in public reference runs."""
    curves["entropy"] = curves["entropy"][0] * rng.uniform(0.11, 0.15) ** (curves.part**0.5)


def resumed(trace: Trace, rng: Rng) -> None:
    """The job was stopped and resumed from its last checkpoint, and says so."""
    announced_resume(trace, int(rng.uniform(0.4, 0.7) * trace.rows), int(rng.integers(2, 12)), rng)


def one_bad_batch(trace: Trace, rng: Rng) -> None:
    """One step in which most answers were wrong."""
    row = int(rng.uniform(0.4, 0.8) * trace.rows)
    score = trace.metrics["critic/score/mean"]
    low = trace.setup.profile.marks[0]
    score[row] = low + 0.4 * (score[row] - low)


def handled_errors(trace: Trace, rng: Rng) -> None:
    """Exceptions that a worker caught, with steps after them."""
    for row in sorted(rng.integers(5, max(6, trace.rows - 5), 3)):
        trace.say(int(row), "traceback", "warning", "TimeoutError: reward server did not answer")


def still_running(trace: Trace, rng: Rng) -> None:
    """The run is two thirds through and still being written."""
    trace.end_at(2 * trace.rows // 3)
    trace.growing = True


def three_decimals(trace: Trace, rng: Rng) -> None:
    """An old log that prints three decimals."""
    trace.metrics = {name: np.round(values, 3) for name, values in trace.metrics.items()}


def few_columns(trace: Trace, rng: Rng) -> None:
    """A custom logger that keeps eight metrics."""
    kept = ("critic/score/mean", "actor/entropy", "actor/grad_norm", "actor/kl_loss", "response_length/mean",
            "actor/lr", "timing_s/step", "actor/pg_loss")  # fmt: skip
    trace.metrics = {name: values for name, values in trace.metrics.items() if name in kept}


def every_tenth(trace: Trace, rng: Rng) -> None:
    """Only every tenth step is logged."""
    trace.keep(trace.steps % 10 == 0)


def validation_only(trace: Trace, rng: Rng) -> None:
    """A run that only validates a finished model."""
    trace.metrics = {name: values for name, values in trace.metrics.items() if name.startswith("val-")}
    trace.keep(np.arange(trace.rows) == trace.rows - 1)
    trace.metrics["val-core/sim/acc/mean@1"] = np.array([0.61])
    trace.steps = np.array([0])


def one_step(trace: Trace, rng: Rng) -> None:
    """A trial of a single step."""
    trace.keep(np.arange(trace.rows) == 0)
    trace.config["trainer.total_training_steps"] = "1"


def critic_head_start(trace: Trace, rng: Rng) -> None:
    """The critic is trained alone for a while: no actor metrics there."""
    rows = min(20, trace.rows // 5)
    trace.config["trainer.critic_warmup"] = str(rows * trace.setup.stride)
    for name, values in trace.metrics.items():
        if name.startswith("actor/") and name != "actor/reward_kl_penalty":
            values[:rows] = np.nan


def noisy_machine(curves: Curves, rng: Rng) -> None:
    """A shared cluster: speed wanders by a tenth, without a trend."""
    phase = rng.uniform(0, 2 * np.pi)
    curves["pace"] *= 1 + 0.05 * np.sin(phase + 14 * np.pi * curves.part)


def epochs(curves: Curves, rng: Rng) -> None:
    """Fine-tuning: the loss steps down where an epoch ends."""
    for share in (1 / 3, 2 / 3):
        curves["right"] = np.clip(curves["right"] + 0.12 * curves.ramp(int(share * curves.rows), 1), 0, 1.2)


def _other(bend: Callable[[otherhand.Draft], None]) -> Callable[[Trace, Rng], None]:
    """A scar that replaces the trace by a healthy run of the other hand."""

    def scar(trace: Trace, rng: Rng) -> None:
        draft = otherhand.draft(trace.rows, rng)
        bend(draft)
        otherhand.write(trace, draft)

    return scar


TRAPS: Mapping[str, Trap] = {
    trap.name: trap
    for trap in (
        Trap("plain", nothing_special),
        Trap("plain-long", nothing_special, size=(1000, 1)),
        Trap("plain-short", nothing_special, size=(60, 1)),
        Trap("costly-checkpoints", costly_checkpoints, in_the_step),
        Trap("format-learning", format_learning),
        Trap("curriculum", curriculum, size=(400, 1)),
        Trap("slow-warmup", slow_warmup),
        Trap("decaying-rate", decaying_rate),
        Trap("wide-clip", wide_clip),
        Trap("lone-spikes", None, lone_spikes),
        Trap("small-batch", small_batch),
        Trap("auxiliary-nan", None, auxiliary_nan),
        Trap("growing-answers", growing_answers),
        Trap("strong-start", strong_start),
        Trap("late-climb", late_climb),
        Trap("long-plateau", long_plateau),
        Trap("rising-kl", rising_kl, profiles=WITH_KL),
        Trap("used-entropy", used_entropy),
        Trap("resumed", None, resumed),
        Trap("one-bad-batch", None, one_bad_batch),
        Trap("handled-errors", None, handled_errors),
        Trap("still-running", None, still_running),
        Trap("three-decimals", None, three_decimals),
        Trap("few-columns", None, few_columns),
        Trap("every-tenth", None, every_tenth, size=(1000, 1)),
        Trap("validation-only", None, validation_only),
        Trap("one-step", None, one_step),
        Trap("critic-head-start", None, critic_head_start, profiles=("ppo",)),
        Trap("noisy-machine", noisy_machine),
        Trap("fine-tuning", nothing_special, profiles=("sft",)),
        Trap("fine-tuning-epochs", epochs, profiles=("sft",)),
        *(Trap(name, None, _other(bend)) for name, bend in otherhand.HEALTHY.items()),
        *(
            Trap(f"other-{rows}-rows", None, _other(bend), size=(rows, 1))
            for rows, bend in (
                (20, otherhand.ordinary),
                (40, otherhand.drifting_score),
                (60, otherhand.ordinary),
            )
        ),
    )
}
