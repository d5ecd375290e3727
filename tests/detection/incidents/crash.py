"""The run ends before its time. At low strength one line tells, at high strength its consequences as well."""

from __future__ import annotations

from tests.detection.incidents.kind import Kind, Place
from tests.detection.profiles import RL
from tests.detection.trace import Trace

ALWAYS = (*RL, "sft")
DIED = (
    "actor_died",
    "critical",
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
)
EXIT = ("exit", "error", "job ends, exit code 1")


def _ends(*lines: tuple[str, str, str]) -> object:
    """A scar: the log ends with the first `force` of these lines."""

    def scar(trace: Trace, place: Place) -> None:
        trace.end_at(place.first)
        for kind, level, text in lines[: int(place.force)]:
            trace.say(place.first, kind, level, text)

    return scar


def at_start(trace: Trace, place: Place) -> None:
    """The memory of the GPU is too small for the first batch."""
    trace.end_at(-1)
    for kind, level, text in (GPU, DIED, EXIT)[: int(place.force)]:
        trace.say(-1, kind, level, text)


def silence(trace: Trace, place: Place) -> None:
    """The log just stops."""
    trace.end_at(place.first)


GPU = ("cuda_oom", "critical", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.20 GiB.")
HOST = (
    "host_oom",
    "critical",
    "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
)
KILLED = ("killed", "critical", "A worker was terminated by signal: 9")
NCCL = (
    "nccl_timeout",
    "critical",
    "[rank3]:[E] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=71)",
)
DISK = ("disk", "error", "OSError: [Errno 28] No space left on device")
TERM = ("sigterm", "error", "*** SIGTERM received at time=1764000000 on cpu 3 ***")
RAISED = ("traceback", "error", "KeyError: 'ground_truth'")

SPAN = {"after": (0.3, 0.9), "lasts": 1, "profiles": ALWAYS, "reads": ("",)}
SIDES = ("RUN-01", "RUN-02", "RUN-03", "RUN-05", "RUN-06", "RUN-07")
KINDS = (
    Kind("gpu-oom", ("RUN-01",), (1, 2, 3), None, _ends(GPU, DIED, EXIT), also=SIDES, hard=True, **SPAN),
    Kind(
        "gpu-oom-at-start",
        ("RUN-01",),
        (1, 2, 3),
        None,
        at_start,
        also=SIDES,
        hard=True,
        whole=True,
        profiles=RL,
        reads=("",),
    ),
    Kind("host-oom", ("RUN-02",), (1, 2, 3), None, _ends(HOST, DIED, EXIT), also=SIDES, hard=True, **SPAN),
    Kind(
        "worker-killed",
        ("RUN-02",),
        (1, 2, 3),
        None,
        _ends(KILLED, DIED, EXIT),
        also=SIDES,
        hard=True,
        **SPAN,
    ),
    Kind(
        "nccl-timeout", ("RUN-03",), (1, 2, 3), None, _ends(NCCL, DIED, EXIT), also=SIDES, hard=True, **SPAN
    ),
    Kind("disk-full", ("RUN-06",), (1, 2, 3), None, _ends(DISK, RAISED, EXIT), also=SIDES, hard=True, **SPAN),
    Kind("exception", ("RUN-05",), (1, 2, 2), None, _ends(RAISED, EXIT), also=SIDES, hard=True, **SPAN),
    Kind("told-to-stop", ("RUN-07",), (1, 1, 1), None, _ends(TERM), also=SIDES, **SPAN),
    Kind("silent-end", ("RUN-07",), (1, 1, 1), None, silence, also=SIDES, **SPAN),
)
