"""What W&B keeps beside its log in `files/`: configuration, metadata, requirements and summary.

The summary repeats the last values of history; it is claimed, so that nobody takes it for a step record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

import yaml

from sitegen.errors import Problem
from sitegen.ingest import jsonl, settings
from sitegen.ingest.facts import gpu_name
from sitegen.ingest.source import Source
from sitegen.ingest.wandb_about import command
from sitegen.model import Batch

NAME = "wandb-files"
MAX_BYTES = 4 << 20
_CONFIG = re.compile(rb"^(?:wandb_version: 1|_wandb:)\s*$", re.MULTILINE)
_VALUE = re.compile(rb"^\S.*:\s*\n(?: +desc:.*\n)? +value:", re.MULTILINE)
_SWANLAB = re.compile(rb"^ +sort: \d", re.MULTILINE)
_PINNED = re.compile(
    r"^(verl|torch|vllm|sglang|transformers|ray|megatron-core)==(\S{1,80})\s*$", re.MULTILINE
)
_METADATA = (b'"startedAt"', b'"executable"', b'"heartbeatAt"', b'"codePath"', b'"program"')


def sniff(path: str, head: bytes) -> bool:
    """Whether the file is one of the four."""
    return _is_config(head) or _is_requirements(path) or _is_metadata(head) or _is_summary(path, head)


def _is_config(head: bytes) -> bool:
    if b"wandb_version: 1" not in head and b"_wandb:" not in head:
        return False
    marked = _CONFIG.search(head) is not None and _VALUE.search(head) is not None
    return marked and _SWANLAB.search(head) is None


def _is_requirements(path: str) -> bool:
    return path.endswith("files/requirements.txt")


def _is_metadata(head: bytes) -> bool:
    marked = b'"os"' in head and b'"python"' in head and sum(mark in head for mark in _METADATA) >= 2
    return marked and _is_object(head)


def _is_object(head: bytes) -> bool:
    return head[:256].lstrip()[:1] == b"{"


def _is_summary(path: str, head: bytes) -> bool:
    named = path.rpartition("/")[2] == "wandb-summary.json"
    return _is_object(head) and (named or (b'"_wandb"' in head and b'"runtime"' in head))


def read(source: Source) -> Iterator[Batch]:
    """One batch with the configuration or the facts; a file that cannot be read becomes a problem."""
    with source.open() as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        yield _problem(source, "too-large", f"larger than {MAX_BYTES >> 20} MiB and was not read")
        return
    try:
        if _is_config(raw):
            yield Batch(config=settings.of_yaml(raw))
        elif _is_requirements(source.path):
            yield Batch(facts=_versions(raw))
        elif not _is_summary(source.path, raw):
            yield Batch(facts=_facts(jsonl.loads(raw)))
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        yield _problem(source, "malformed", f"cannot be read: {str(error).splitlines()[0][:200]}")


def _problem(source: Source, kind: str, what: str) -> Batch:
    return Batch(problems=(Problem(source.path, None, kind, what),))


def _versions(raw: bytes) -> dict[str, str]:
    """Versions of the packages that decide how a run trains, as facts such as `verl_version`."""
    found = (match.groups() for match in _PINNED.finditer(raw.decode("utf-8", "replace")))
    return {f"{name}_version": version for name, version in found}


def _facts(whole: object) -> dict[str, str]:
    """Code and machine of a wandb-metadata.json. Host, user and e-mail address are of no use here."""
    if not isinstance(whole, dict):
        raise ValueError("it is not a JSON object")
    git = whole.get("git")
    arguments = whole.get("args")
    found = {
        "commit": _text(git.get("commit")) if isinstance(git, dict) else "",
        "remote": _text(git.get("remote")) if isinstance(git, dict) else "",
        "python": _text(whole.get("python")),
        "cuda": _text(whole.get("cudaVersion") or whole.get("cuda_version") or whole.get("cuda")),
        "gpu": gpu_name(_text(whole.get("gpu"))),
        "gpus": _text(whole.get("gpu_count") or whole.get("gpuCount")),
        "first_time": _seconds(_text(whole.get("startedAt"))),
        "command": command(
            _text(whole.get("program")), [str(a) for a in arguments] if isinstance(arguments, list) else []
        ),
    }
    return {key: value for key, value in found.items() if value}


def _text(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def _seconds(stamp: str) -> str:
    """Unix seconds of an ISO time, which W&B writes in UTC; "" for text that is none."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return ""
    return repr((moment if moment.tzinfo else datetime.fromisoformat(f"{stamp}+00:00")).timestamp())
