"""Incidents in the runs of the other hand, each as somebody would draw it with a formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sitegen.model import Severity
from tests.detection import otherhand
from tests.detection.incidents.kind import Kind, Place, Scar
from tests.detection.otherhand import Draft
from tests.detection.trace import Trace

Break = Callable[[Draft, Place], None]


def _scar(breaks: Break, raw: str = "") -> Scar:
    """A scar that replaces the trace by a draft that `breaks`; values of metric `raw` become NaN after it."""

    def scar(trace: Trace, place: Place) -> None:
        d = otherhand.draft(trace.rows, place.rng)
        breaks(d, place)
        otherhand.write(trace, d)
        if raw:
            trace.break_value(raw, np.arange(place.first, place.last + 1))

    return scar


def _since(d: Draft, place: Place) -> np.ndarray:
    """Rows since the onset, 0 before."""
    return np.clip(d.t - place.first, 0, None)


def _stop_learning(d: Draft, row: int) -> None:
    for word in ("score", "val"):
        d[word][row:] = d[word][row]


def entropy_falls(rows: float) -> Break:
    """Entropy goes to next to nothing within `rows` rows (a share of the run below 1); learning stops."""

    def breaks(d: Draft, place: Place) -> None:
        span = rows if rows >= 1 else rows * d.rows
        _stop_learning(d, place.first)
        d["entropy"] = d["entropy"] * np.exp(np.log(place.force) * d.ramp(place.first, span))

    return breaks


def kl_exponential(d: Draft, place: Place) -> None:
    """The KL doubles every few rows, up to a cap; the score crumbles."""
    grown = np.minimum(np.exp(place.force * _since(d, place)), 200)
    d["kl"] = d["kl"] * grown
    hurt = np.clip(np.log(grown) / np.log(200), 0, 1)
    d["score"] = d["score"] * (1 - 0.7 * hurt)
    d["val"] = d["val"] * (1 - 0.7 * hurt)


def kl_linear(d: Draft, place: Place) -> None:
    """From its onset on the KL climbs in proportion to the steps, to many times its level, for nothing."""
    _stop_learning(d, place.first)
    d["kl"] = d["kl"] + place.force * float(d["kl"][place.first]) * _since(d, place) / max(
        1, d.rows - place.first
    )


def score_falls(rows: float) -> Break:
    """The score loses a share of its level within `rows` rows (a share of the run below 1)."""

    def breaks(d: Draft, place: Place) -> None:
        span = rows if rows >= 1 else rows * d.rows
        down = 1 - place.force * d.ramp(place.first, span)
        d["score"] = d["score"] * down
        d["val"] = d["val"] * down

    return breaks


def length_explodes(d: Draft, place: Place) -> None:
    """Answers grow to several times their length within a tenth of the run, many are cut, the score falls."""
    up = d.ramp(place.first, 0.1 * d.rows)
    d["length"] = d["length"] * (1 + (place.force - 1) * up)
    d["cut"] = d["cut"] + 0.12 * (place.force - 1) * up
    d["score"] = d["score"] * (1 - 0.35 * up)


def length_collapses(d: Draft, place: Place) -> None:
    """Answers shrink to a fraction within a tenth of the run; the score falls."""
    down = d.ramp(place.first, 0.1 * d.rows)
    d["length"] = d["length"] * np.exp(np.log(place.force) * down)
    d["score"] = d["score"] * (1 - 0.35 * down)


def gradient_explodes(d: Draft, place: Place) -> None:
    """The gradient norm doubles every few rows, to thousands; the score falls in its wake."""
    grown = np.minimum(np.exp(place.force * _since(d, place)), 3000)
    d["grad"] = d["grad"] * grown
    hurt = d.ramp(place.first + 8, 15)
    d["score"] = d["score"] * (1 - 0.5 * hurt)


def loss_is_nan(d: Draft, place: Place) -> None:
    """The policy loss is NaN from here on; nothing is learned any more."""
    _stop_learning(d, place.first)


def decays(d: Draft, place: Place) -> None:
    """Throughput falls in a straight line to a share of itself."""
    d["throughput"] = d["throughput"] * (
        1 - (1 - place.force) * _since(d, place) / max(1, d.rows - place.first)
    )


def drops(d: Draft, place: Place) -> None:
    """Throughput is a share of itself from one step to the next."""
    d["throughput"] = d["throughput"] * (1 - (1 - place.force) * d.ramp(place.first, 1))


def leaks(d: Draft, place: Place) -> None:
    """Host memory grows in a straight line."""
    d["host"] = d["host"] * (1 + place.force * _since(d, place) / max(1, d.rows - place.first))


def fills(trace: Trace, place: Place) -> None:
    """GPU memory grows until CUDA is out of memory, and the log ends there."""
    rng = place.rng
    d = otherhand.draft(trace.rows, rng)
    d["gpu"] = d["gpu"] * (1 + 0.5 * d.ramp(place.first // 2, place.first // 2))
    otherhand.write(trace, d)
    trace.end_at(place.first)
    trace.say(place.first, "cuda_oom", "critical", "torch.cuda.OutOfMemoryError: CUDA out of memory.")


def critic_diverges(d: Draft, place: Place) -> None:
    """The value loss grows exponentially, explained variance goes below zero, the score stops."""
    d.critic = True
    _stop_learning(d, place.first)
    up = d.ramp(place.first, 0.1 * d.rows)
    d["vf_loss"] = d["vf_loss"] * np.exp(np.log(place.force) * up)
    d["ev"] = d["ev"] - up * (0.3 + 0.1 * place.force)


def hacks(d: Draft, place: Place) -> None:
    """The score climbs to nearly everything, validation stays or falls, the KL multiplies."""
    d.every = min(d.every, max(5, d.rows // 25))
    up = d.ramp(place.first, 0.2 * d.rows)
    d["score"] = np.minimum(d["score"], 0.55)
    level = float(d["score"][place.first])
    d["score"] = d["score"] + (0.95 - level) * min(1.0, 0.3 * place.force) * up
    d["val"] = np.minimum(d["val"], float(d["val"][place.first])) * (1 - 0.05 * place.force * up)
    d["kl"] = d["kl"] * (1 + (place.force - 1) * up)
    d["length"] = d["length"] * (1 + 0.35 * place.force * up)
    d["entropy"] = d["entropy"] * (1 - 0.5 * up)


def stalls(d: Draft, place: Place) -> None:
    """The score never moves."""
    d["score"] = d.rng.uniform(0.1, 0.4)
    d["val"] = d["score"] - 0.01
    d["kl"] = 0.001 * d.part
    d["grad"] = d["grad"] * 0.2


def clip_saturates(d: Draft, place: Place) -> None:
    """A large share of the tokens is clipped, and each update moves far."""
    up = d.ramp(place.first, 0.05 * d.rows)
    d["clip"] = d["clip"] + place.force * up
    d["ppo_kl"] = d["ppo_kl"] * (1 + 100 * place.force * up)
    _stop_learning(d, place.first)


def rate_too_high(d: Draft, place: Place) -> None:
    """The learning rate is multiplied; gradients, KL and score follow at once."""
    d["lr"] = d["lr"] * (1 + (place.force - 1) * d.ramp(place.first, 1))
    up = d.ramp(place.first, 10)
    d["grad"] = d["grad"] * (1 + 0.3 * place.force * up)
    d["kl"] = d["kl"] * (1 + 0.5 * place.force * up)
    d["score"] = d["score"] * (1 - 0.6 * d.ramp(place.first + 3, 15))


def groups_die(d: Draft, place: Place) -> None:
    """All groups agree: no advantage, no gradient, though the score is far from its best."""
    gone = 1 - d.ramp(place.first, 1)
    _stop_learning(d, place.first)
    d["advantage"] = gone
    d["grad"] = d["grad"] * gone


FALL = ("REW-05", "VAL-01", "VAL-02", "ACT-04", "GRP-01", "KL-06", "REW-11", "REW-08")
KINDS = (
    Kind("other-entropy-fast", ("ENT-02", "ENT-01", "ENT-05"), (0.2, 0.08, 0.02),
         None, _scar(entropy_falls(6)), also=("KL-06",), reads=("actor/entropy", "critic/score")),
    Kind("other-entropy-slow", ("ENT-01", "ENT-02", "ENT-05"), (0.06, 0.03, 0.01),
         None, _scar(entropy_falls(0.3)), also=("KL-06",), reads=("actor/entropy", "critic/score"),
         after=(0.2, 0.45)),
    Kind("other-kl-exponential", ("KL-05", "KL-06", "REW-05"), (0.05, 0.12, 0.3), None, _scar(kl_exponential),
         also=FALL, hard=True, reads=("actor/kl_loss", "critic/score")),
    Kind("other-kl-linear", ("KL-06", "KL-05"), (5, 12, 30), None, _scar(kl_linear),
         also=FALL, reads=("actor/kl_loss", "critic/score"), after=(0.35, 0.6)),
    Kind("other-reward-sudden", ("REW-05",), (0.55, 0.75, 0.95), None, _scar(score_falls(5)),
         also=FALL, hard=True, reads=("critic/score",)),
    Kind("other-reward-slow", ("REW-05",), (0.55, 0.75, 0.95), None, _scar(score_falls(0.3)),
         also=FALL, reads=("critic/score",), after=(0.35, 0.6)),
    Kind("other-length-explosion", ("LEN-01", "LEN-03"), (2, 3, 5), None, _scar(length_explodes),
         also=(*FALL, "LEN-04", "THR-01", "THR-04"), reads=("response_length", "critic/score")),
    Kind("other-length-collapse", ("LEN-02",), (0.4, 0.25, 0.1), None, _scar(length_collapses),
         also=(*FALL, "LEN-04", "THR-01", "THR-04", "ENT-05"), reads=("response_length", "critic/score")),
    Kind("other-gradient", ("GRD-02", "GRD-01"), (0.15, 0.3, 0.8), None, _scar(gradient_explodes),
         also=(*FALL, "GRD-05"), hard=True, reads=("actor/grad_norm", "critic/score")),
    Kind("other-loss-nan", ("GRD-04",), (1, 1, 1), None, _scar(loss_is_nan, "actor/pg_loss"),
         also=FALL, hard=True, reads=("actor/pg_loss",)),
    Kind("other-throughput-decay", ("THR-01", "THR-04"), (0.65, 0.5, 0.3), None, _scar(decays),
         also=("TIM-01", "THR-03", "THR-07"), reads=("perf/", "timing_s/", "response_length/mean"),
         after=(0.2, 0.45)),
    Kind("other-throughput-drop", ("THR-04", "THR-01", "TIM-01"), (0.65, 0.48, 0.3), None, _scar(drops),
         also=("TIM-01", "THR-03", "THR-07"), reads=("perf/", "timing_s/", "response_length/mean")),
    Kind("other-host-leak", ("MEM-03",), (0.6, 1.2, 2.5), None, _scar(leaks),
         reads=("perf/cpu_memory",), after=(0.1, 0.4)),
    Kind("other-gpu-fills", ("RUN-01",), (1, 1, 1), None, fills, lasts=1, also=("RUN-05", "RUN-07", "MEM-04"),
         hard=True, reads=("",)),
    Kind("other-critic", ("CRI-01", "CRI-04"), (4, 8, 20), None, _scar(critic_diverges),
         also=FALL, reads=("critic/", "actor/pg_loss")),
    Kind("other-hacking", ("REW-03", "VAL-01", "VAL-02"), (2, 3.5, 6), None, _scar(hacks),
         also=(*FALL, "KL-05", "LEN-01", "LEN-04", "ENT-02", "ENT-01", "THR-01"), after=(0.35, 0.6),
         reads=("actor/kl_loss", "critic/score", "response_length", "val-core", "actor/entropy")),
    Kind("other-stalled", ("REW-06",), (1, 1, 1), None, _scar(stalls), whole=True,
         also=("GRP-01", "VAL-03"), reads=("critic/score",)),
    Kind("other-clip", ("ACT-05", "KL-08"), (0.15, 0.3, 0.6), None, _scar(clip_saturates),
         also=FALL, reads=("actor/pg_clipfrac", "actor/ppo_kl", "critic/score")),
    Kind("other-rate", ("ACT-09", "KL-05", "GRD-02", "REW-05"), (5, 20, 100), None, _scar(rate_too_high),
         also=(*FALL, "KL-05", "KL-06", "GRD-01", "GRD-02", "GRD-05"), reads=("actor/", "critic/score")),
    Kind("other-dead-groups", ("GRP-02", "GRD-03"), (1, 1, 1), None, _scar(groups_die),
         also=("GRD-03",), hard=True, least=Severity.WARNING, reads=("critic/", "actor/grad_norm")),
)  # fmt: skip
