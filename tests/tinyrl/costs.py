"""What a step would cost with seven billion weights: seconds and gigabytes, from the tokens of the step.

Modelled, not measured (see the package's docstring). Times grow with the tokens of each phase and, when
generating, with the longest response; a seeded jitter of 3 % stands for the noise of a machine. Memory
follows the tokens of the largest micro batch (padding removed); like torch's counters it is a peak since the
start and never falls.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .config import Config
from .rollout import Rollouts

WEIGHTS = 7e9
PEAK_FLOPS = 312e12  # of one GPU, bfloat16
STATIC_GB = 41.3  # weights, gradients and optimiser, sharded
MB_PER_TOKEN = 4.6  # activations and logits of one token in an update
MICRO_BATCH = 96  # sequences of one GPU in one forward pass

SECONDS_PER_TOKEN = {  # on one GPU
    "old_log_prob": 2.1e-4,
    "ref": 2.0e-4,
    "values": 1.9e-4,
    "update_critic": 5.8e-4,
    "update_actor": 6.4e-4,
}


class OutOfMemoryError(RuntimeError):
    """The simulated GPU has no room for an allocation; named and worded as torch does."""


OutOfMemoryError.__module__ = "torch"


@dataclass
class Gpu:
    """One GPU that counts what is allocated on it."""

    capacity_gb: float
    allocated_gb: float = STATIC_GB
    peak_gb: float = STATIC_GB

    def allocate(self, gigabytes: float) -> None:
        """Take memory for the length of a step. Raises OutOfMemoryError above the capacity."""
        reserved = 1.06 * self.allocated_gb
        if reserved + gigabytes > self.capacity_gb:
            raise OutOfMemoryError(
                f"CUDA out of memory. Tried to allocate {gigabytes:.2f} GiB. GPU 0 has a total capacity of "
                f"{self.capacity_gb:.2f} GiB of which {self.capacity_gb - reserved:.2f} GiB is free. "
                f"Of the allocated memory {self.allocated_gb:.2f} GiB is allocated by PyTorch, and "
                f"{reserved - self.allocated_gb:.2f} GiB is reserved by PyTorch but unallocated."
            )
        self.allocated_gb += gigabytes
        self.peak_gb = max(self.peak_gb, self.allocated_gb)

    def release(self) -> None:
        self.allocated_gb = STATIC_GB


@dataclass
class Costs:
    """Seconds of the phases of a run."""

    config: Config
    rng: np.random.Generator
    gpu: Gpu = field(init=False)

    def __post_init__(self) -> None:
        self.gpu = Gpu(self.config.gpu_memory_gb)

    def generation(self, rollouts: Rollouts) -> float:
        """Decoding is bound by the longest response, then by the number of tokens."""
        return self._noisy(1.6 + 0.02 * int(rollouts.lengths.max()) + 9e-4 * self._tokens(rollouts))

    def reward(self, rollouts: Rollouts) -> float:
        return self._noisy(0.05 + 4e-4 * len(rollouts.lengths))

    def phase(self, name: str, rollouts: Rollouts) -> float:
        return self._noisy(0.2 + SECONDS_PER_TOKEN[name] * self._tokens(rollouts))

    def advantages(self, rollouts: Rollouts) -> float:
        return self._noisy(0.01 + 1e-6 * self._tokens(rollouts))

    def checkpoint(self) -> float:
        return self._noisy(11.0)

    def validation(self, rollouts: Rollouts) -> float:
        return self.generation(rollouts) + self.reward(rollouts)

    def update_memory(self, rollouts: Rollouts) -> None:
        """Allocate what an update needs. Raises OutOfMemoryError."""
        tokens = rollouts.lengths + rollouts.prompts.lengths
        starts = np.arange(0, len(tokens), MICRO_BATCH)
        self.gpu.release()
        self.gpu.allocate(float(np.add.reduceat(tokens, starts).max()) * MB_PER_TOKEN / 1024)

    def host_memory_gb(self, step: int) -> float:
        """Node memory: loaders and Ray fill up over the first steps and then stay."""
        return 96.0 + 14.0 * (1.0 - float(np.exp(-step / 12.0))) + 0.3 * float(self.rng.normal())

    def mfu(self, rollouts: Rollouts, seconds: float) -> float:
        """Model FLOPs of an update over what the GPUs could do: 6 x weights x tokens."""
        tokens = int((rollouts.lengths + rollouts.prompts.lengths).sum())
        return 6 * WEIGHTS * tokens / (seconds * self.config.gpus * PEAK_FLOPS)

    def _tokens(self, rollouts: Rollouts) -> float:
        return float((rollouts.lengths + rollouts.prompts.lengths).sum()) / self.config.gpus

    def _noisy(self, seconds: float) -> float:
        return seconds * float(np.exp(0.03 * self.rng.normal()))
