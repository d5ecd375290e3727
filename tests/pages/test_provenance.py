"""Where a run comes from and what was set differently: what is known is said, what is not takes no room."""

from __future__ import annotations

from dataclasses import replace

from sitegen.model import ConfigSource, LogLine
from sitegen.pages import provenance, report_md
from sitegen.reports.shapes import Compared, Difference, RunReport
from tests.pages import made_runs, rendered
from tests.pages.rendered import Outline

BARE = {
    "verl_version": None, "commit": None, "hardware": None, "gpus": None,
    "started_at": None, "ended_at": None, "finished": False,
}  # fmt: skip


def report(
    log_lines: tuple[LogLine, ...] = (), compared: tuple[Compared, ...] = (), **more: object
) -> RunReport:
    made = made_runs.sick()
    run = replace(made.run, **more)  # type: ignore[arg-type]
    return replace(made, run=run, log_lines=log_lines, compared=compared)


def facts(one: RunReport) -> dict[str, str]:
    return {each.label: each.value for each in provenance.origin(one)}


def text(one: RunReport) -> str:
    return Outline(rendered.page(one).html).text


def test_what_is_known_is_listed_in_the_order_people_ask() -> None:
    said = {
        "command": "python -m verl.trainer.main_ppo a.b=1",
        "remote": "https://git.lab/verl.git",
        "torch_version": "2.8.0",
        "vllm_version": "0.11.0",
        "ray_version": "2.50",
        "python": "3.11.7",
        "gpu_memory_gb": "80",
    }
    found = facts(report(facts=said))
    assert list(found) == [
        "Command", "Commit", "Repository", "Versions", "Hardware", "Started", "Ended", "Exit",
    ]  # fmt: skip
    assert found["Versions"] == "verl 0.9.1, PyTorch 2.8.0, vLLM 0.11.0, python 3.11.7, ray 2.50"
    assert found["Hardware"] == "8 × H100, 80 GiB each"


def test_what_is_not_known_has_no_row() -> None:
    assert facts(report(**BARE)) == {}
    assert "sg-origin" not in rendered.page(report(**BARE)).html


def test_overrides_are_listed_where_the_command_does_not_show_them() -> None:
    typed = {"overrides": "a.b=1 a.c=2"}
    assert facts(report(facts=typed))["Typed on the command line"] == "a.b=1 a.c=2"
    both = {"overrides": "a.b=1", "command": "python main_ppo a.b=1"}
    assert "Typed on the command line" not in facts(report(facts=both))


def test_the_exit_is_that_of_the_last_attempt() -> None:
    lines = (
        LogLine("a.log", 9, None, "error", "killed", 20, "Killed"),
        LogLine("a.log", 99, None, "error", "exit", 600, "exit code 1"),
    )
    assert facts(report(lines))["Exit"] == "exit code 1 (a.log:99)"
    assert facts(report(lines[:1], finished=True))["Exit"] == "training ended by itself"
    assert facts(report(finished=False, facts={"tracker_status": "KILLED"}))["Exit"] == (
        "killed, as its tracker says"
    )


def test_the_source_of_the_configuration_is_named() -> None:
    sources = (
        ConfigSource("a/train.log", "console", 5, 5),
        ConfigSource("a/.hydra/config.yaml", "hydra", 9, 1),
        ConfigSource("a/x.wandb", "wandb", 5, 0),
    )
    assert "From a/train.log (5 settings), what it lacks from a/.hydra/config.yaml (1 setting)." in " ".join(
        text(report(config_sources=sources)).split()
    )


DIFFERENT = Compared(
    "baseline",
    "base",
    "Base <b>",
    (Difference("trainer.lr", "1e-06", "<script>5e-07"),),
    (Difference("trainer.x", None, "7"),),
)


def test_what_differs_from_the_baseline_is_shown_with_both_values() -> None:
    html = rendered.page(report(compared=(DIFFERENT,))).html
    assert not Outline(html).faults
    assert '<a href="../../runs/base/">Base &lt;b&gt;</a>' in html and "&lt;script&gt;5e-07" in html
    seen = " ".join(Outline(html).text.split())
    assert "Compared with the baseline" in seen and "trainer.lr 1e-06 <script>5e-07" in seen
    assert "trainer.x not logged 7" in seen


def test_nothing_is_said_of_comparisons_where_there_is_nothing_to_compare() -> None:
    assert "Compared with" not in text(report()) and "Baseline" not in text(report())


def test_a_baseline_that_is_not_there_is_named() -> None:
    assert "Baseline gone : this archive has no other run" in " ".join(text(report(baseline="gone")).split())


def test_a_long_comparison_can_be_searched_and_needs_no_script() -> None:
    rows = tuple(Difference(f"a.k{i}", str(i), str(-i)) for i in range(20))
    html = rendered.page(report(compared=(replace(DIFFERENT, differing=rows),))).html
    assert html.count('data-sg-filter="find a key or value"') == 3  # what differs, what one has, all settings
    assert "a.k19" in html and "<input" not in html[html.index('id="setup"') :]


def test_precision_and_seeds_are_facts_of_the_run() -> None:
    config = {"actor_rollout_ref.rollout.dtype": "bfloat16", "data.seed": "7"}
    found = facts(report(config=config))
    assert (found["Precision"], found["Seeds"]) == ("rollout in bf16", "data 7")
    assert "| Precision | rollout in bf16 |" in report_md.document(report(config=config))
