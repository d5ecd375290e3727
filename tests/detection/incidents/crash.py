"""The run ends before its time. At low strength one line tells, at high strength its consequences as well."""

from __future__ import annotations

from tests.detection.incidents.kind import Kind, Place, Scar
from tests.detection.profiles import RL
from tests.detection.trace import Trace

ALWAYS = (*RL, "sft")
DIED = (
    "actor_died",
    "critical",
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
)
EXIT = ("exit", "error", "job ends, exit code 1")


def _ends(*lines: tuple[str, str, str]) -> Scar:
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

SIDES = ("RUN-01", "RUN-02", "RUN-03", "RUN-05", "RUN-06", "RUN-07")


def _end(name: str, code: str, scar: Scar, lines: int = 1, hard: bool = True) -> Kind:
    """A kind of end that takes up to `lines` lines to tell."""
    forces = (1, min(2, lines), lines)
    return Kind(
        name,
        (code,),
        forces,
        None,
        scar,
        also=SIDES,
        hard=hard,
        lasts=1,
        after=(0.3, 0.9),
        profiles=ALWAYS,
        reads=("",),
    )


KINDS = (
    _end("gpu-oom", "RUN-01", _ends(GPU, DIED, EXIT), 3),
    Kind(
        "gpu-oom-at-start",
        ("RUN-01",),
        (1, 2, 3),
        None,
        at_start,
        also=SIDES,
        hard=True,
        whole=True,
        reads=("",),
    ),
    _end("host-oom", "RUN-02", _ends(HOST, DIED, EXIT), 3),
    _end("worker-killed", "RUN-02", _ends(KILLED, DIED, EXIT), 3),
    _end("nccl-timeout", "RUN-03", _ends(NCCL, DIED, EXIT), 3),
    _end("disk-full", "RUN-06", _ends(DISK, RAISED, EXIT), 3),
    _end("exception", "RUN-05", _ends(RAISED, EXIT), 2),
    _end("told-to-stop", "RUN-07", _ends(TERM), hard=False),
    _end("silent-end", "RUN-07", silence, hard=False),
)
