"""Telling console output of a verl run from other text, by content."""

from __future__ import annotations

import re

from sitegen.ingest import joins, pieces, text

# Lines that only a running job prints. Each must stand at the start of a line: a page about verl, a README or
# a launch script holds the same words inside a sentence, a table or a command.
_STARTED = re.compile(
    r"^(?::job_id:\d|:actor_name:|:task_name:|"  # files of Ray's workers
    r"20\d\d-\d\d-\d\d \S+\s+(?:INFO|WARNING)\s+\w+\.py:\d+ -- |"  # Ray's own logger
    r"ray init kwargs: |\(?[\"']?(?:Initial|Final) validation metrics: |test_gen_batch meta info: |"
    r"validation generation end$|Checkpoint tracker file does not exist: |Training from scratch$|"
    r"Setting global step to \d+$|Training Progress: +\d+%\||Using LocalLogger is deprecated|"
    r"(?:Total training steps|Size of train dataloader): \d|Number of steps/epoch \d|\[validate_config\]|"
    r"colocated worker base class|Error executing job with overrides: |"
    r"wandb: (?:Currently logged in|Tracking run|Run data is saved|Syncing run|Detected \[)|"
    r"slurmstepd: error|srun: error|\[rank\d+\]:\[[EW]\d|\*{3} SIG[A-Z]+ received at time=|"
    r"Epoch \d+/\d+: +\d+%\||\++ (?:\S*/)?(?:python3?|torchrun|conda run|ray|accelerate)\b.*verl)",
    re.MULTILINE,
)
_RAY = re.compile(
    r"^(?:\x1b\[[\d;]*m|\\u001b\[[\d;]*m|\[\d+m)*\((?:[^()\n]{1,120} )?pid=\d+(?:, ip=[^()\s]+)?\)",
    re.MULTILINE,
)
_CRASH = re.compile(
    r"^Traceback \(most recent call last\):$|CUDA out of memory\. Tried to allocate", re.MULTILINE
)
_MARKED = re.compile(r"^[^\[{\n]{0,60}\[(?:METRICS?\] *\{|INFO\] .*\bstep\b)", re.MULTILINE | re.IGNORECASE)
_CHAT = re.compile(r"<\|im_start\|>|<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>")
_CODE = re.compile(
    r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+[(:]|#!/|\{%|#include|package \w|function \w|"
    r"diff --git |@\w+$)",
    re.MULTILINE,
)
_WANDB_OWN = re.compile(
    r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:INFO|DEBUG|WARNING|ERROR) +\w+:\d+ +\[\w+\.py:"
)
_YAML = re.compile(r"^(?:  )*[\w-]+:(?: [^\n]*)?$|^ *- ", re.MULTILINE)

_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\r\x1b\x08\x0c")  # no text has them


def readable(head: bytes) -> str | None:
    """`head` as text; None for what is no text."""
    sample = head[:8192]
    control = len(sample) - len(sample.translate(None, _CONTROL))
    if not head.strip() or control > max(8, len(sample) // 50):
        return None
    words = head.decode("utf-8", "replace")
    return None if words.count("\ufffd") > max(8, len(words) // 20) else words


def has_step_line(words: str) -> bool:
    """Whether a line of `words` is a step line with a readable metric."""
    at = words.find("step:")
    while at >= 0:
        start = words.rfind("\n", 0, at) + 1
        end = words.find("\n", at)
        line = words[start : end if end >= 0 else len(words)]
        if _is_step_line(line, words[end + 1 : end + 400] if end >= 0 else ""):
            return True
        at = words.find("step:", max(end, at + 5)) if end >= 0 else -1
    return False


def _is_step_line(line: str, following: str) -> bool:
    for piece in (piece for part in text.unquoted(line) or [line] for piece in text.lines(1, part)):
        at = joins.step_at(piece.body)
        if at is None:
            continue
        if pieces.record(piece.body[at:]) is not None:
            return True
        if pieces.metric(following.partition("\n")[0].strip().removeprefix("- ")):
            return True
    return False


def has_speaker(words: str) -> bool:
    """Whether Ray's mark of a worker stands at the start of a line."""
    return _RAY.search(words) is not None


def of_a_run(words: str) -> bool:
    """Whether `words`, the beginning of a file, is console output of a run."""
    if has_step_line(words) or has_speaker(words):
        return True
    if _WANDB_OWN.match(words):
        return False
    code = _CODE.search(words) is not None
    if _STARTED.search(words) and not (code and _source_like(words)):
        return True
    if _source_like(words):
        return False
    if _CRASH.search(words) or _MARKED.search(words):
        return True
    return not code and _CHAT.search(words) is not None


def _source_like(words: str) -> bool:
    """Whether the text is a program, a script, a page of prose or YAML rather than output."""
    lines = [line for line in words.split("\n")[:200] if line.strip()]
    if not lines:
        return True
    if lines[0].startswith(
        ("#!", "<?", "<!", "%", "//", "/*", '"""', "from ", "import ", "package ", "diff --git ")
    ):
        return True
    code = sum(_CODE.match(line) is not None for line in lines)
    yaml = sum(_YAML.match(line) is not None for line in lines)
    return code >= max(2, len(lines) // 20) or yaml > 0.9 * len(lines)
