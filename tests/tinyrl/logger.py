"""What a run leaves on disk: verl's console and FileLogger JSONL, or the dialect of [METRIC] files."""

from __future__ import annotations

import gzip
import io
import json
import math
import pprint
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from .config import Config, printed
from .measures import Metrics

CYAN, PLAIN = "\x1b[36m", "\x1b[0m"


class Log(Protocol):
    """Where a run writes. Every method takes the wall clock of the run."""

    def begin(self, config: Config, now: datetime, resumed_from: int) -> None: ...
    def step(self, step: int, metrics: Metrics, now: datetime) -> None: ...
    def saved(self, config: Config, step: int) -> None: ...
    def end(self, config: Config, now: datetime, error: BaseException | None, signal: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Style:
    """How a version of verl and a cluster write the console.

    `decimals`: fixed decimals and the names of 0.3, else reprs. `pid`: of Ray's prefix, None without one.
    """

    process: str = "TaskRunner"
    pid: int | None = None
    colour: bool = True
    decimals: int | None = None
    node: str = "gpu-a01"
    job: int = 48000

    @property
    def prefix(self) -> str:
        if self.pid is None:
            return ""
        head = f"({self.process} pid={self.pid})"
        return f"{CYAN}{head}{PLAIN} " if self.colour else f"{head} "

    def value(self, value: object) -> str:
        return f"{value:.{self.decimals}f}" if self.decimals is not None else pprint.pformat(value)


# Names of verl 0.3 where they differ; None: it had no such metric.
OLD_NAMES: Mapping[str, str | None] = {
    "actor/entropy": "actor/entropy_loss",
    "actor/reward_kl_penalty": "critic/kl",
    "actor/reward_kl_penalty_coeff": "critic/kl_coeff",
    "actor/pg_clipfrac_lower": None,
    "response/aborted_ratio": None,
    "training/global_step": None,
    "training/epoch": None,
}


def old_names(metrics: Metrics) -> Metrics:
    """The metrics of a step as verl 0.3 names them."""
    renamed: Metrics = {}
    for name, value in metrics.items():
        if name.startswith("val-core/"):
            renamed["val/test_score/" + name.removeprefix("val-core/").rsplit("/", 2)[0]] = value
        elif not name.startswith(("val-aux/", "response_length_non_aborted/")):
            new = OLD_NAMES.get(name, name)
            if new is not None:
                renamed[new] = value
    return renamed


@dataclass
class Console:
    """Console output of a job as the batch system keeps it."""

    style: Style
    text: io.StringIO = field(default_factory=io.StringIO)
    started: datetime | None = None
    first: int = 0

    def begin(self, config: Config, now: datetime, resumed_from: int) -> None:
        self.started, self.first = now, resumed_from
        self._plain(f"[{now:%Y-%m-%d %H:%M:%S}] job {self.style.job} starts on {self.style.node}")
        ray = now + timedelta(seconds=9, milliseconds=271)
        stamp = ray.strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        self._plain(f"{stamp}\tINFO worker.py:1951 -- Started a local Ray instance.")
        for line in pprint.pformat(printed(config)).splitlines():
            self._line(line)
        self._line(
            f"Size of train dataloader: {config.train_prompts // config.batch}, Size of val dataloader: 1"
        )
        self._line(f"Total training steps: {config.steps}")
        if resumed_from:
            self._resume(config, resumed_from)
        else:
            tracker = f"{config.folder}/latest_checkpointed_iteration.txt"
            self._line(f"Checkpoint tracker file does not exist: {tracker}")
            self._line("Training from scratch")

    def _resume(self, config: Config, step: int) -> None:
        folder = f"{config.folder}/global_step_{step}"
        self._line(f"Found checkpoint: {folder}")
        self._line(f"Setting global step to {step}")
        self._line(f"Resuming from {folder}")

    def step(self, step: int, metrics: Metrics, now: datetime) -> None:
        named = old_names(metrics) if self.style.decimals is not None else metrics
        pieces = [f"{name}:{self.style.value(value)}" for name, value in named.items()]
        self._line(" - ".join([f"step:{step}", *pieces]))
        if math.isnan(metrics.get("actor/grad_norm", 0.0)) and step % 10 == 0:
            self._line("WARN: rank 0 grad_norm is not finite: nan")

    def progress(self, step: int, total: int, now: datetime) -> None:
        """A bar as tqdm draws it."""
        assert self.started is not None
        elapsed = (now - self.started).total_seconds()
        pace = elapsed / max(step - self.first, 1)
        done = int(10 * step / total)
        bar = "█" * done + " " * (10 - done)
        left = _clock(pace * (total - step))
        percent = f"{100 * step // total:3d}%"
        times = f"{_clock(elapsed)}<{left}, {pace:.2f}s/it"
        self._line(f"Training Progress: {percent}|{bar}| {step}/{total} [{times}]")

    def saved(self, config: Config, step: int) -> None:
        self._line(f"local_global_step_folder: {config.folder}/global_step_{step}")

    def end(self, config: Config, now: datetime, error: BaseException | None, signal: bool) -> None:
        stamp = f"[{now:%Y-%m-%d %H:%M:%S}]"
        if error is not None:
            for line in "".join(traceback.format_exception(error)).splitlines():
                self._line(_without_folders(line))
            self._plain(f"{stamp} job {self.style.job} ends, exit code 1")
        elif signal:
            self._plain(f"*** SIGTERM received at time={int(now.timestamp())} on cpu 12 ***")
            self._plain(f"{stamp} job {self.style.job} ends, exit code 143")
        else:
            self._plain(f"{stamp} job {self.style.job} ends, exit code 0")

    def final(self, metrics: Metrics) -> None:
        """The last validation, as verl prints it before it leaves."""
        found = {name: value for name, value in metrics.items() if name.startswith("val-")}
        self._line(f"Final validation metrics: {pprint.pformat(found, width=10_000)}")

    def _line(self, text: str) -> None:
        self.text.write(f"{self.style.prefix}{text}\n")

    def _plain(self, text: str) -> None:
        self.text.write(f"{text}\n")


def _clock(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


def _without_folders(line: str) -> str:
    """Traceback lines with this machine's folders taken out, so that they are the same everywhere."""
    root = str(Path(__file__).resolve().parents[2])
    return line.replace(root + "/", "")


@dataclass
class FileLog:
    """verl's FileLogger: one {"step", "data"} object a line; what JSON cannot say becomes null."""

    text: io.StringIO = field(default_factory=io.StringIO)

    def step(self, step: int, metrics: Metrics) -> None:
        data = {name: _json_number(value) for name, value in metrics.items()}
        self.text.write(json.dumps({"step": step, "data": data}) + "\n")


def _json_number(value: object) -> float | int | None:
    if isinstance(value, int):
        return value
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


SEED_KEYS = {
    "reward_mean": "critic/score/mean",
    "kl_div": "actor/kl_loss",
    "actor_loss": "actor/pg_loss",
    "critic_loss": "critic/vf_loss",
    "lr_actor": "actor/lr",
    "grad_norm_actor": "actor/grad_norm",
    "num_tokens_prompt": "prompt_length/mean",
    "num_tokens_response": "response_length/mean",
    "tokens_per_sec": "perf/throughput",
}


@dataclass
class SeedLog:
    """The dialect of flat METRIC records with [INFO], [DEBUG] and [METRIC] lines."""

    gpus: int
    metrics: io.StringIO = field(default_factory=io.StringIO)
    debug: io.StringIO = field(default_factory=io.StringIO)
    console: io.StringIO = field(default_factory=io.StringIO)

    def step(self, step: int, metrics: Metrics, now: datetime) -> None:
        if "critic/score/mean" not in metrics:
            return
        record: dict[str, object] = {"step": step, "epoch": metrics["training/epoch"]}
        record |= {key: _short(metrics[name]) for key, name in SEED_KEYS.items() if name in metrics}
        record["tokens_per_sec"] = _short(metrics["perf/throughput"] * self.gpus)
        line = json.dumps(record)
        self.metrics.write(line + "\n")
        self._debug(step, metrics, now)
        if step % 10 == 0:
            stamp = f"{now:%Y-%m-%d %H:%M:%S}"
            self.console.write(
                f"[INFO] {stamp} step {step}: reward_mean={record['reward_mean']} kl_div={record['kl_div']} "
                f"actor_loss={record['actor_loss']} tokens_per_sec={record['tokens_per_sec']}\n"
                f"[METRIC] {line}\n"
            )

    def _debug(self, step: int, metrics: Metrics, now: datetime) -> None:
        if step % 20 == 0:
            self.debug.write(
                f"[DEBUG] {now:%Y-%m-%d %H:%M:%S} step {step} "
                f"grad_norm_actor={_short(metrics['actor/grad_norm'])} "
                f"response_length min={metrics['response_length/min']:.0f} "
                f"max={metrics['response_length/max']:.0f}\n"
            )


def _short(value: float) -> float:
    return float(f"{float(value):.6g}")


def write(path: Path, text: str, packed: bool = False) -> None:
    """Write a file; packed adds ".gz" with no name and no date in it, so that bytes repeat."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not packed:
        path.write_text(text, encoding="utf-8")
        return
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
