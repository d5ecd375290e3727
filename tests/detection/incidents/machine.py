"""The machine slows down, stalls, runs full."""

from __future__ import annotations

import numpy as np

from sitegen.model import Severity
from tests.detection.curves import Curves
from tests.detection.incidents.kind import Kind, Place
from tests.detection.profiles import RL


def slowing(curves: Curves, place: Place) -> None:
    """Everything gets slower, a little with every step, until the end."""
    left = (np.arange(curves.rows) - place.first).clip(0) / max(1, curves.rows - place.first)
    curves["pace"] *= 1 + (place.force - 1) * left


def slow_generation(curves: Curves, place: Place) -> None:
    """From one step to the next, generation takes much longer for the same tokens."""
    curves["gen_pace"] *= 1 + (place.force - 1) * curves.ramp(place.first, 2)


def straggler(curves: Curves, place: Place) -> None:
    """For a while one slow node holds up all others."""
    curves["pace"] *= 1 + (place.force - 1) * curves.bump(place.first, place.last)


def stalls(curves: Curves, place: Place) -> None:
    """Every so many steps the run stands still for a while."""
    period = int(place.rng.integers(8, 20))
    curves["stall"] = place.force * 60.0 * (np.arange(curves.rows) % period == period - 1)


def slow_reward(curves: Curves, place: Place) -> None:
    """The reward function takes a large share of every step."""
    curves["reward_s"] = place.force * 100.0


def host_leak(curves: Curves, place: Place) -> None:
    """Host memory grows with every step."""
    left = (np.arange(curves.rows) - place.first).clip(0) / max(1, curves.rows - place.first)
    curves["host"] *= 1 + place.force * left


def gpu_growth(curves: Curves, place: Place) -> None:
    """The peak of GPU memory rises late in the run."""
    curves["gpu"] *= 1 + place.force * curves.ramp(place.first, 0.2 * curves.rows)
    curves["reserved"] = np.maximum(curves["reserved"], curves["gpu"] + 4)


def fragmentation(curves: Curves, place: Place) -> None:
    """Much more GPU memory is reserved than used, and the gap grows."""
    curves["reserved"] += place.force * curves["gpu"] * curves.ramp(place.first, 0.4 * curves.rows)


TIMES = ("timing_s/", "perf/", "response_length/mean", "prompt_length/mean", "timing_per_token_ms/")
KINDS = (
    Kind(
        "throughput-decline",
        ("THR-01", "THR-04"),
        (0.7, 0.5, 0.3),
        slowing,
        reads=TIMES,
        after=(0.2, 0.45),
        also=("TIM-01", "THR-03", "THR-07", "THR-06"),
    ),
    Kind(
        "slow-generation",
        ("TIM-01", "THR-01", "THR-04"),
        (0.55, 0.35, 0.2),
        slow_generation,
        reads=TIMES,
        also=("TIM-04", "THR-06"),
    ),
    Kind(
        "straggler",
        ("THR-04", "THR-06", "TIM-01", "THR-01"),
        (0.42, 0.3, 0.15),
        straggler,
        lasts=30,
        reads=TIMES,
        also=("THR-07",),
        least=Severity.INFO,
    ),
    Kind(
        "periodic-stalls",
        ("THR-02", "THR-06"),
        (1, 2.5, 6),
        stalls,
        whole=True,
        reads=TIMES,
        least=Severity.INFO,
        also=("TIM-07", "THR-05"),
    ),
    Kind(
        "reward-slow",
        ("TIM-06",),
        (0.6, 1.5, 4),
        slow_reward,
        whole=True,
        reads=TIMES,
        least=Severity.INFO,
        also=("THR-05",),
    ),
    Kind("host-leak", ("MEM-03",), (0.6, 1.2, 2.5), host_leak, reads=("perf/cpu_memory",), after=(0.1, 0.35)),
    Kind(
        "gpu-growth",
        ("MEM-04",),
        (0.1, 0.25, 0.5),
        gpu_growth,
        reads=("perf/max_memory",),
        least=Severity.INFO,
        also=("MEM-01", "MEM-02"),
        after=(0.55, 0.7),
    ),
    Kind(
        "fragmentation",
        ("MEM-02",),
        (0.4, 0.8, 1.5),
        fragmentation,
        reads=("perf/max_memory",),
        also=("MEM-01", "MEM-04"),
        after=(0.25, 0.45),
        profiles=RL,
    ),
)
