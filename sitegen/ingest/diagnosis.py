"""Lines that matter for diagnosis: what they say, and whether a run lived on after them.

The kind of a line says what happened; its level says whether it may have ended the run:

* "critical", "error": nothing in the log speaks against it.
* "warning": the run went on. Steps were logged after it in the same attempt, the same exception was survived
  before, or a worker logged it as an exception that it had handled.
* "info": it happened while or after the run had ended by itself, or is no fault.

So a rule that asks "what ended this run" takes lines of the two upper levels. An attempt ends where the
program starts anew in the same file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """What a line says, before it is known how the run went on."""

    kind: str
    level: str


# What a line says, most certain first; the first pattern that is found counts. Lines that only name a cause
# among others (Ray: "there are some potential root causes ... killed by SIGKILL by OOM killer") come late.
# The words are a shortcut: a pattern is tried only where one of them stands in the line.
_PATTERNS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("host_oom", "critical", ("OutOfMemoryError", "memory", "oom", "OOM"), (
        r"ray\.exceptions\.OutOfMemoryError",
        r"memory pressure \(OOM\)",
        r"due to the node running low on memory",
        r"exceeds the memory usage threshold",
        r"oom[-_]kill",
        r"Out of memory: Killed process",
        r"Exceeded job memory limit",
    )),
    ("cuda_oom", "critical", ("memory", "OutOfMemoryError", "OUT_OF_MEMORY"), (
        r"(?:CUDA|HIP|NPU|XPU) out of memory",
        r"torch\.(?:cuda\.)?OutOfMemoryError",
        r"CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY",
        r"No available memory for the cache blocks",
        r"Not enough memory\. Please try to increase --mem-fraction-static",
    )),
    ("nccl_timeout", "critical", ("NCCL", "atchdog caught"), (
        r"Watchdog caught collective operation timeout",
        r"NCCL[^\n]{0,200}?(?:timeout\b|timed out|watchdog got stuck)",
        r"Some NCCL operations have failed or timed out",
        r"[Tt]imed out waiting for[^\n]{0,80}NCCL",
    )),
    ("disk", "error", ("No space left", "uota exceeded", "OutOfDiskError"), (
        r"No space left on device",
        r"[Dd]isk quota exceeded",
        r"OutOfDiskError",
    )),
    ("disk", "warning", ("% full",), (r"is over \d\d(?:\.\d+)?% full",)),
    ("sigterm", "error", ("SIG", "signal", "CANCELLED", "DUE ", "KeyboardInterrupt", "Terminated"), (
        r"\*\*\* SIG(?:TERM|INT|HUP) received",
        r"[Rr]eceived (?:signal )?(?:SIGTERM|SIGINT)|[Rr]eceived signal 15",
        r"got signal: (?:15|2|1)\b",
        r"CANCELLED AT|DUE TO TIME LIMIT|DUE TO PREEMPTION|DUE to SIGNAL Terminated",
        r"^(?:KeyboardInterrupt|Terminated)\b",
    )),
    ("actor_died", "critical", ("Error", "died", "dead", "Raylet"), (
        r"ActorDiedError|RayActorError|ActorUnavailableError|WorkerCrashedError|NodeDiedError",
        r"The actor (?:died|is dead)|[Aa]ctor died unexpectedly",
        r"A worker died or was killed",
        r"Raylet is terminated",
    )),
    ("killed", "critical", ("SIGKILL", "-9", "137", "Killed", "signal: 9"), (
        r"(?:signal|exit ?code|got signal:)[ :=]*\(?(?:SIGKILL\b|-?9\b|137\b)",
        r"Signal 9 \(SIGKILL\)",
        r"^(?:\S{0,120}: line \d+: +\d+ )?Killed(?:$|\s)",
    )),
    ("nan_guard", "warning", ("finite",), (
        r"(?:grad_norm|[Gg]rad(?:ient)?s?(?: norm)?|loss) (?:is|are) (?:not finite|non-?finite)",
        r"[Nn]on-?finite (?:grad|loss)",
    )),
    ("resumed", "info", ("lobal step", "Resum"), (
        r"Setting global step to \d+",
        r"Resuming from \S+",
        r"Resum(?:ed|ing) (?:training )?(?:from|at) (?:global )?step \d+",
    )),
    ("checkpoint_found", "info", ("checkpoint",), (
        r"Found checkpoint\b",
        r"[Ll]oad(?:ing)? from checkpoint folder",
    )),
    ("checkpoint_saved", "info", ("Saved ", "aving ", "saved", "step_folder"), (
        r"Saved (?:model|optim|extra|hf|full|checkpoint)\w* ?\w* (?:to|in|at) ",
        r"local_global_step_folder: ",
        r"[Ss]aved checkpoint|[Cc]heckpoint saved",
        r"[Ss]aving (?:the )?(?:actor |critic |model )?checkpoint to",
    )),
    ("finished", "info", ("validation metrics", "raining "), (
        r"Final validation metrics",
        r"[Tt]raining (?:is |has )?(?:finished|completed?)\b",
    )),
    ("exit", "error", ("overrides", "xit", "main_run", "ChildFailedError"), (
        r"Error executing job with overrides",
        r"(?:exited with|non-zero|nonzero) exit (?:code|status)[ :]*[1-9]",
        r"\b[Ee]xit ?code *[:=]? *-?[1-9]\d*\b",
        r"conda\.cli\.main_run:execute",
        r"ChildFailedError",
    )),
    ("exit", "info", ("exit",), (
        r"\bexit(?:ed with)? ?(?:code|status) *[:=]? *0\b",
        r"\bexitcode *[:=]? *0\b",
    )),
    ("info", "info", ("Training from", "tracker file", "(Pdb)", "atexit"), (
        r"^Training from scratch",
        r"Checkpoint tracker file does not exist",
        r"\(Pdb\)",
        r"Exception ignored in atexit",
    )),
    ("warning", "warning", ("unexpectedly", "raylet"), (
        r"Worker unexpectedly exits",
        r"raylet[^\n]{0,60}died",
    )),
)  # fmt: skip
_SIGNS = tuple(
    (Sign(kind, level), words, re.compile("|".join(parts))) for kind, level, words, parts in _PATTERNS
)

# Kinds that say why something ended: an exception of such a kind is not just a traceback.
CAUSES = frozenset({"host_oom", "cuda_oom", "nccl_timeout", "disk", "sigterm", "actor_died", "killed"})

_BAR = re.compile(
    r"Training Progress: +\d+%\|[^|]*\| *(?P<done>\d+)/(?P<total>\d+) \[[^<\]\n]{1,40}<(?P<rest>[^\]]*)\]?"
)
_EPOCHS = re.compile(r"Epoch (\d+)/(\d+): 100%\|")
_EXIT_CODE = re.compile(r"(?:exit ?code|exit status|exitcode)[ :=]*(-?\d{1,3})\b", re.IGNORECASE)
_START = re.compile(
    r"Started a local Ray instance|Connected to Ray cluster|Connecting to existing Ray cluster"
    r"|Training from scratch|Setting global step to \d+"
)
_BARE = re.compile(
    r"(?:\w{1,80}\.){0,8}[A-Z]\w{0,80}?(?:Error|Exception)(?:\([\w.]{1,80}\))?(?::\s|:?\s*$)"
    r"|Fatal Python error: "
    r"|(?:\S{0,120}: line \d+: +\d+ )?(?:Segmentation fault|Bus error|Aborted)(?:\s+\(core dumped\)|$)"
)
_SHELL = re.compile(r"\S{0,120}: line \d+: +\d+ ")  # the place in a script that a shell names first
_RESUMED_STEP = re.compile(r"(?:Setting global step to |global_step_)(\d+)")


def classify(body: str) -> Sign | None:
    """What `body`, a line without decoration, says; None for most lines."""
    for sign, words, pattern in _SIGNS:
        for word in words:
            if word in body:
                if pattern.search(body):
                    return sign
                break
    return None


def bare_error(body: str) -> str | None:
    """The error that `body` is, printed without a traceback; None for any other line.

    Programs print errors that they handled, too: it says something about a run only where the log ends in it.
    """
    return _SHELL.sub("", body.strip(), count=1) if _BARE.match(body) else None


def starts_attempt(body: str) -> bool:
    """Whether the program starts here, perhaps once more in the same file."""
    return ("Ray" in body or "raining" in body or "lobal step" in body) and _START.search(body) is not None


@dataclass(frozen=True, slots=True)
class Bar:
    """The main progress bar: steps done of steps planned."""

    done: int
    total: int
    moving: bool  # False for a bar that was only drawn, at no speed

    @property
    def complete(self) -> bool:
        """Whether the loop ran to its end."""
        return self.total > 0 and self.done >= self.total and self.moving


def bar(body: str) -> Bar | None:
    """The last training progress bar in `body`."""
    last = None
    for match in _BAR.finditer(body):
        last = match
    if last is None:
        return None
    return Bar(int(last["done"]), int(last["total"]), "?" not in last["rest"])


def last_epoch(body: str) -> bool:
    """Whether an SFT epoch bar stands at the end of the last epoch."""
    return any(match[1] == match[2] for match in _EPOCHS.finditer(body))


def exit_code(body: str) -> str | None:
    """The exit code that a line names."""
    match = _EXIT_CODE.search(body)
    return match[1] if match else None


def resumed_step(body: str) -> int | None:
    """The step that a run resumes from, where the line names it."""
    match = _RESUMED_STEP.search(body)
    return int(match[1]) if match else None
