"""Plays a scenario: trains it, keeps its clock, and writes what the run leaves in its folder."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from .config import Config
from .costs import OutOfMemoryError
from .logger import Console, FileLog, SeedLog, Style, write
from .measures import Metrics
from .trainer import Checkpoint, Trainer

STYLE = Style()
START_UP = timedelta(seconds=96)  # loading weights


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run of the archive: its settings, its story, and what it leaves on disk.

    `files` is any of "console", "console.gz", "jsonl", "jsonl.gz", "seed". `stop_at`: the job is terminated
    after that step; `resume_after`: that much later it starts again from its last checkpoint.
    """

    name: str  # folder under runs/
    config: Config
    started: datetime
    title: str
    owner: str
    notes: str
    tags: tuple[str, ...]
    files: tuple[str, ...] = ("console", "jsonl.gz")
    style: Style = STYLE
    hardware: str = "2 x A100-80GB (modelled)"
    baseline: str | None = None
    stop_at: int | None = None
    resume_after: timedelta | None = None


@dataclass
class Stage:
    """One scenario on its way."""

    scenario: Scenario
    now: datetime = field(init=False)
    console: Console = field(init=False)
    file_log: FileLog = field(default_factory=FileLog)
    seed_log: SeedLog | None = field(init=False)

    def __post_init__(self) -> None:
        self.now = self.scenario.started
        self.console = Console(self.scenario.style)
        self.seed_log = SeedLog(self.scenario.config.gpus) if "seed" in self.scenario.files else None

    def play(self) -> None:
        """Train from scratch and, where the scenario says so, once more from the last checkpoint."""
        scenario = self.scenario
        saved = self._train(Trainer(scenario.config), scenario.stop_at)
        if scenario.resume_after is None or saved is None:
            return
        self.now += scenario.resume_after
        resumed = Trainer(scenario.config, resumed=1)
        resumed.restore(saved)
        self._train(resumed, None)

    def _train(self, trainer: Trainer, stop_at: int | None) -> Checkpoint | None:
        """Returns the last checkpoint."""
        config, saved = self.scenario.config, None
        self.console.begin(config, self.now, trainer.finished)
        self.now += START_UP
        found, seconds = trainer.validate()
        self._log(trainer.finished, found, seconds)
        metrics: Metrics = {}
        while trainer.finished < (stop_at or config.steps):
            try:
                metrics = trainer.step()
            except OutOfMemoryError as error:
                self.console.end(config, self.now + timedelta(seconds=20), error, signal=False)
                return saved
            saved = self._after(trainer, metrics) or saved
        if stop_at is None:
            self.console.final(metrics)
        self.console.end(config, self.now + timedelta(seconds=7), None, signal=stop_at is not None)
        return saved

    def _after(self, trainer: Trainer, metrics: Metrics) -> Checkpoint | None:
        """Log a step and save a checkpoint when it is time to."""
        config, step = self.scenario.config, trainer.finished
        saving = step % config.save_freq == 0
        if saving:
            self.console.saved(config, step)
        self._log(
            step, metrics, float(metrics["timing_s/step"]) + float(metrics.get("timing_s/testing", 0.0))
        )
        if step % 10 == 0:
            self.console.progress(step, config.steps, self.now)
        return trainer.checkpoint() if saving else None

    def _log(self, step: int, metrics: Metrics, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.console.step(step, metrics, self.now)
        self.file_log.step(step, metrics)
        if self.seed_log is not None:
            self.seed_log.step(step, metrics, self.now)

    # --- files -----------------------------------------------------------------------------

    def leave(self, runs: Path) -> None:
        """Write the run's folder anew; notes by people stay."""
        scenario, folder = self.scenario, runs / self.scenario.name
        for old in folder.iterdir() if folder.exists() else ():
            if old.name in ("notes.md", "incidents"):
                continue
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
        for kind in scenario.files:
            name, _, packed = kind.partition(".")
            if self.seed_log is not None and name == "seed":
                self._leave_seed(folder, self.seed_log)
            elif name == "console":
                write(folder / "train.log", self.console.text.getvalue(), packed == "gz")
            else:
                write(
                    folder / f"{scenario.config.experiment}.jsonl",
                    self.file_log.text.getvalue(),
                    packed == "gz",
                )
        write(folder / "run.toml", run_toml(scenario))

    def _leave_seed(self, folder: Path, log: SeedLog) -> None:
        stamp = f"{self.scenario.started:%Y%m%d_%H%M%S}"
        write(
            folder / "logs" / "metrics" / f"{self.scenario.config.experiment}.jsonl", log.metrics.getvalue()
        )
        write(folder / "logs" / "debug" / f"{stamp}.log", log.debug.getvalue())
        write(folder / "console.log", log.console.getvalue())


def run_toml(scenario: Scenario) -> str:
    """The run's card. Strings of a scenario hold neither quotes nor backslashes."""
    tags = ", ".join(f'"{tag}"' for tag in scenario.tags)
    lines = [
        f'title = "{scenario.title}"',
        f'owner = "{scenario.owner}"',
        f'hardware = "{scenario.hardware}"',
        f"tags = [{tags}]",
    ]
    if scenario.baseline is not None:
        lines.append(f'baseline = "{scenario.baseline}"')
    lines.append(f'notes = """\n{scenario.notes.strip()}\n"""')
    return "\n".join(lines) + "\n"


def produce(scenario: Scenario, runs: Path) -> str:
    """Train a scenario and write its folder; returns its name."""
    stage = Stage(scenario)
    stage.play()
    stage.leave(runs)
    return scenario.name
