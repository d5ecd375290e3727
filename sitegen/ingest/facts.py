"""Facts about a run that its log mentions in passing: version, commit, command, planned steps, GPU."""

from __future__ import annotations

import re

from sitegen.ingest import hydra
from sitegen.ingest.text import Line

_VERSION = re.compile(
    r"\bverl(?:==|[ -]version:? ?|[ -]v?|/v?)(\d+\.\d+(?:\.\d+)?(?:\.?(?:dev|rc|post)\d*)?)\b", re.IGNORECASE
)
_COMMIT = re.compile(r"\b(?:git )?commit(?: hash| id)?[:=]? ?`?([0-9a-f]{7,40})\b", re.IGNORECASE)
_SHA = re.compile(r"\s*([0-9a-f]{7,40})\s*")
_COMMAND = re.compile(
    r"^(?:\++ |\$ |\S{1,80}[#$] )?(?P<command>(?:[A-Z_]+=\S+ )*(?:\S*/)?"
    r"(?:python\S*|torchrun|accelerate|conda run|uv run|ray job submit|srun|bash|sh|nohup)\b.*)$"
)
_VERL_COMMAND = re.compile(
    r"\bverl[./]\S*trainer|\bmain_ppo\b|\bmain_dapo\b|\bsft_trainer\b|\brecipe\.\w+|\b-m verl\b"
)
_OVERRIDES = re.compile(r"Error executing job with overrides: (\[.*\])")
_PLANNED = re.compile(r"Total training steps: (\d{1,9})\b|total number of steps (\d{1,9})\b")
_WORKER_PLANNED = re.compile(r"Total steps: (\d{1,9}), num_warmup_steps")
_GPU = re.compile(r"\b(H100|H200|H20|H800|A100|A800|B200|B100|GB200|L40S?|L20|V100|MI300X|910B)\b")
_GPU_CONTEXT = re.compile(r"GPU|NVIDIA|accelerator_type|gpu_name|device_name|gpu type")
_GPU_MEMORY = re.compile(
    r"total capacity of (\d+(?:\.\d+)?) GiB|device memory used/total \(GB\): [\d.]+/(\d+(?:\.\d+)?)"
)
MAX_COMMAND = 8000


def gpu_name(text: str) -> str:
    """The short name of a GPU, such as A800, where `text` holds one that is known; else `text`."""
    match = _GPU.search(text)
    return match[1] if match else text


class Facts:
    """Facts found so far; the first mention counts, for planned steps the last."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.overrides: dict[str, str] = {}
        self._awaits = ""  # heading seen on the line before: "commit" or "command"
        self._command: list[str] = []  # lines of a command that goes on behind a backslash

    @property
    def pending(self) -> bool:
        """Whether the next line belongs to what was seen on this one."""
        return bool(self._awaits or self._command)

    def take(self, line: Line) -> None:
        """Look for facts in one line."""
        body = line.body
        if self._command:
            self._more_command(body)
            return
        if self._awaits and body.strip() and not body.lstrip().startswith("```"):
            self._headed(body)
        if body.strip() in ("commit:", "command:"):
            self._awaits = body.strip(" :")
        if "verl" in body or "main_ppo" in body or "recipe" in body:
            self._from_verl(body)
        if "ommit" in body and (match := _COMMIT.search(body)):
            self._note("commit", match[1])
        if "otal " in body:
            self._planned(body)
        if "capacity" in body or "used/total" in body:
            self._note_match("gpu_memory_gb", _GPU_MEMORY.search(body))
        if _GPU_CONTEXT.search(body):
            self._note_match("gpu", _GPU.search(body))
        if "overrides: " in body and (match := _OVERRIDES.search(body)):
            self.overrides.update(hydra.listed(match[1]))

    def _from_verl(self, body: str) -> None:
        if match := _VERSION.search(body):
            self._note("verl_version", match[1])
        match = _COMMAND.match(body.strip())
        if match and _VERL_COMMAND.search(body):
            self._begin_command(match["command"])

    def _planned(self, body: str) -> None:
        if match := _PLANNED.search(body):
            self.found["planned_steps"] = match[1] or match[2]
        elif (match := _WORKER_PLANNED.search(body)) and "planned_steps" not in self.found:
            self.found["planned_steps"] = match[1]

    def _headed(self, body: str) -> None:
        heading, self._awaits = self._awaits, ""
        match = _SHA.fullmatch(body)
        if heading == "commit" and match:
            self._note("commit", match[1])
        elif heading == "command":
            self._begin_command(body.strip())

    def _begin_command(self, text: str) -> None:
        self._command = [text[:MAX_COMMAND].removesuffix("\\").rstrip()]
        if not text.endswith("\\"):
            self._end_command()

    def _more_command(self, body: str) -> None:
        text = body.strip()
        self._command.append(text[:MAX_COMMAND].removesuffix("\\").rstrip())
        if not text.endswith("\\") or len(self._command) > 500:
            self._end_command()

    def _end_command(self) -> None:
        command = " ".join(self._command)[:MAX_COMMAND]
        self._command = []
        self._note("command", command)
        self.overrides.update(hydra.overrides(command))

    def _note_match(self, key: str, match: re.Match[str] | None) -> None:
        if match:
            self._note(key, next(filter(None, match.groups())))

    def _note(self, key: str, value: str) -> None:
        self.found.setdefault(key, value)
