"""Where a run comes from: code, versions, machine, command, how it ended; and what was set differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sitegen.language import t
from sitegen.model import LogLine, Run
from sitegen.pages import compare, words
from sitegen.reports import setup
from sitegen.reports.shapes import Compared, Difference, RunReport

_CLIP = 400  # characters of a value in a comparison; the table of all settings has it whole
_NAMES = {"verl": "verl", "torch": "PyTorch", "vllm": "vLLM", "sglang": "SGLang", "cuda": "CUDA"}
_ENDS = ("exit", "killed", "finished", "sigterm")  # kinds of lines that say how a run ended


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that the files state; `code` = shown as written."""

    label: str
    value: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison with another run, as text."""

    relation: str
    anchor: str
    title: str
    href: str
    curves: str  # address of the two over each other
    rows: tuple[Difference, ...]
    single: tuple[Difference, ...]


def origin(report: RunReport) -> tuple[Fact, ...]:
    """What is known of where a run comes from, in the order people ask for it; nothing for what is not."""
    run, said = report.run, report.run.facts
    found = (
        Fact(t("Command"), said.get("command", ""), code=True),
        Fact(t("Typed on the command line"), _typed(run), code=True),
        Fact(t("Commit"), run.commit or "", code=True),
        Fact(t("Branch"), said.get("branch", "")),
        Fact(t("Repository"), said.get("remote", "")),
        Fact(t("Versions"), ", ".join(_versions(run))),
        Fact(t("Hardware"), _hardware(run)),
        Fact(t("Precision"), ", ".join(setup.precision(run.config))),
        Fact(t("Seeds"), ", ".join(setup.seeds(run.config))),
        Fact(t("Started"), _when(run.started_at)),
        Fact(t("Ended"), _when(run.ended_at)),
        Fact(t("Exit"), _exit(report)),
        Fact(t("Known to its tracker as"), said.get("wandb_run") or said.get("run_id", ""), code=True),
    )
    return tuple(each for each in found if each.value)


def comparisons(report: RunReport, root: str) -> tuple[Comparison, ...]:
    """Comparisons with other runs; `root` leads from the page to the site's root."""
    return tuple(_comparison(report.run.id, each, root) for each in report.compared)


def no_baseline(report: RunReport) -> str | None:
    """The baseline that run.toml names, where there was nothing to compare with."""
    shown = any("baseline" in each.relation for each in report.compared)
    return None if shown else report.run.baseline


def _comparison(run: str, each: Compared, root: str) -> Comparison:
    rows = tuple(_clipped(row) for row in each.differing)
    single = tuple(_clipped(row) for row in each.single)
    anchor = f"against-{each.relation.split()[0]}"
    curves = compare.link(root, (run, each.run))
    return Comparison(each.relation, anchor, each.title, f"{root}runs/{each.run}/", curves, rows, single)


def _clipped(row: Difference) -> Difference:
    return Difference(row.key, _clip(row.here), _clip(row.there))


def _clip(text: str | None) -> str | None:
    return None if text is None else words.clip(text, _CLIP)


def _typed(run: Run) -> str:
    """Overrides that the command does not show already."""
    typed = run.facts.get("overrides", "")
    return "" if typed and typed in run.facts.get("command", "") else typed


def _versions(run: Run) -> Iterator[str]:
    found = {
        key.removesuffix("_version"): text for key, text in run.facts.items() if key.endswith("_version")
    }
    found |= {key: run.facts[key] for key in ("python", "cuda") if key in run.facts}
    if run.verl_version:
        found["verl"] = run.verl_version
    order = list(_NAMES)
    for name in sorted(found, key=lambda each: (order.index(each) if each in order else len(order), each)):
        yield f"{_NAMES.get(name, name)} {found[name]}"


def _hardware(run: Run) -> str:
    counted = words.plural(run.gpus, "GPU") if run.gpus else ""
    memory = run.facts.get("gpu_memory_gb")
    named = (run.hardware or counted).replace(" x ", " × ")
    parts = (named, t("{memory} GiB each", memory=memory) if memory else "")
    return ", ".join(part for part in parts if part)


def _when(stamp: float | None) -> str:
    return "" if stamp is None else words.minute(stamp)


def _exit(report: RunReport) -> str:
    """How the run ended, as the newest line about it says; else what its tracker says."""
    last = report.run.last_step or 0
    ends = (line for line in report.log_lines if line.kind in _ENDS)
    lines = [line for line in ends if line.step is None or line.step >= last]  # not those of earlier attempts
    if lines:
        return _sentence(lines[-1])
    if report.run.finished:
        return t("training ended by itself")
    status = report.run.facts.get("tracker_status", "")
    return t("{status}, as its tracker says", status=status.lower()) if status else ""


def _sentence(line: LogLine) -> str:
    return f"{words.clip(line.text, 200)} ({line.path}:{line.line})"
