from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sitegen.model import Findings, Run, Severity
from sitegen.reports import status, validation, verdict
from sitegen.reports.case import Case
from sitegen.reports.curves import Curves
from sitegen.reports.words import THIN
from tests.reports.made import NAN, findings, incident, line, moved, run, series


def case(
    found: Findings, facts: Run | None = None, columns: dict[str, Any] | None = None, lines: Any = ()
) -> Any:
    facts = facts or run()
    curves = Curves(series(columns or {}))
    seen = validation.views(curves)
    best = validation.best(curves, seen)
    return Case(facts, found, status.status(facts, found), curves, seen, best, tuple(lines))


HACKING = incident(
    "REW-03",
    "error",
    first=41,
    open=True,
    title="Reward hacking signature",
    metric="score",
    evidence=moved(
        ("score", "Score", 0.86, 0.96),
        ("kl_ref", "Reference KL", 0.035, 0.14),
        ("response_length", "Response length", 987, 307),
    ),
)


def test_a_sick_run_says_what_since_when_and_what_moved() -> None:
    told = case(findings(HACKING))
    assert verdict.headline(told) == "Reward hacking suspected from step 41"
    assert verdict.sentence(told).startswith(
        "Score rose from 0.86 to 0.96 while reference KL grew 4.0× to 0.14 "
        f"and responses shortened by 69{THIN}% to 307."
    )


def test_validation_best_checkpoint_and_cost_follow() -> None:
    evals = [NAN] * 100
    evals[9], evals[29], evals[59], evals[99] = 0.50, 0.84, 0.70, 0.61
    saves = [NAN] * 100
    saves[29] = saves[59] = 12.0
    columns = {
        "val-core/gsm8k/acc/mean@1": evals,
        "timing_s/step": [300.0] * 100,
        "timing_s/save_checkpoint": saves,
    }
    assert verdict.sentence(case(findings(HACKING), columns=columns)).endswith(
        "Validation on gsm8k fell from 0.84 to 0.61. "
        "Best validation 0.84 on gsm8k; best checkpoint: step 30. "
        "40 GPU-hours ran after onset."  # 60 steps x 300 s x 8 GPUs
    )


def test_hours_are_wall_hours_where_the_gpus_are_unknown() -> None:
    told = case(findings(HACKING), run(gpus=None), {"timing_s/step": [300.0] * 100})
    assert f"5.0{THIN}h ran after onset." in verdict.sentence(told)


def test_without_step_times_no_hours_are_claimed() -> None:
    assert "after onset" not in verdict.sentence(case(findings(HACKING)))


def test_what_began_first_is_the_suspected_root() -> None:
    first = incident("GRD-01", "warning", first=36, title="Gradient spike")
    sentence = verdict.sentence(case(findings(first, HACKING)))
    assert "First sign at step 36: gradient spike (suspected root)." in sentence


def test_a_signature_is_told_before_the_signs_that_it_is_made_of() -> None:
    sign = incident("KL-05", "error", first=40, title="Sudden KL jump", metric="kl_ref")
    told = case(findings(sign, HACKING))
    assert verdict.headline(told) == "Reward hacking suspected from step 41"
    assert "With it: sudden KL jump." in verdict.sentence(told)
    assert "suspected root" not in verdict.sentence(told)


def test_a_signature_does_not_hide_a_worse_fault_beside_it() -> None:
    worse = incident("REW-05", "critical", first=45, open=True, title="Reward collapse")
    assert verdict.headline(case(findings(HACKING, worse))) == "Reward collapse from step 45"


def test_validation_shows_a_fault_and_does_not_cause_it() -> None:
    first = incident("VAL-02", "warning", first=36, title="Validation regressed")
    sentence = verdict.sentence(case(findings(first, HACKING)))
    assert "First sign at step 36: validation regressed." in sentence


def test_incidents_at_the_same_time_are_one_event_and_distant_ones_are_named_apart() -> None:
    same = incident("KL-05", "warning", first=43, title="KL jump")
    later = incident("THR-01", "warning", first=90, title="Throughput drop")
    sentence = verdict.sentence(case(findings(HACKING, same, later)))
    assert "With it: KL jump." in sentence
    assert "Also throughput drop at step 90." in sentence


def test_without_numbers_the_message_of_the_incident_speaks() -> None:
    told = case(findings(incident(severity="error", open=True)))
    assert verdict.sentence(told).startswith("Gradient norm 5.0 exceeds 1.0.")


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ("converged", "Healthy: converged at step 80"),
        ("plateau", "Healthy: on a plateau since step 80"),
        ("climb", "Healthy: still improving at step 100"),
        ("learning", "Healthy: still learning at step 100"),
        ("warmup", "Nothing found; still warming up at step 100"),
        ("decline", "Nothing to act on, but past its peak since step 80"),
    ],
)
def test_a_healthy_run_says_so_as_plainly(phase: str, expected: str) -> None:
    told = case(findings(phases=[("climb", 1, 79), (phase, 80, 100)]))
    assert verdict.headline(told) == expected
    assert verdict.sentence(told) == "Nothing to act on."


def test_three_steps_are_not_called_healthy() -> None:
    told = case(findings(phases=[("warmup", 1, 3)]), run(steps=3, last_step=3, planned_steps=3))
    assert verdict.headline(told) == "Too short to judge: 3 steps"
    assert verdict.sentence(told) == "No rule fired, which says little."


def test_what_could_not_be_checked_is_said() -> None:
    blind = {"ENT-01": ["entropy"], "ENT-02": ["entropy"], "CRI-01": ["vf_explained_var"]}
    assert verdict.sentence(case(findings(blind=blind))).endswith(
        "3 of 3 rules could not be checked (not logged: policy entropy and explained variance)."
    )


def test_remarks_change_nothing_but_are_counted() -> None:
    found = findings(incident(severity="info"), phases=[("climb", 1, 100)])
    assert verdict.sentence(case(found)) == "Nothing to act on; 1 remark."


def test_a_crash_before_the_first_step_names_cause_and_place() -> None:
    lines = (
        line("cuda_oom", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4 GiB", 31),
        line("traceback", 'File "workers.py", line 780, in generate_sequences', 23),
    )
    oom = incident(
        "RUN-01",
        "critical",
        first=None,
        open=True,
        title="GPU out of memory",
        evidence=moved(lines=lines[:1]),
    )
    told = case(findings(oom), run(steps=0, first_step=None, last_step=None, finished=False), lines=lines)
    assert verdict.headline(told) == "Crashed before the first step: CUDA out of memory in generate_sequences"
    assert verdict.sentence(told).startswith(
        "demo/train.log:31 says: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4 GiB"
    )


def test_an_uncaught_exception_is_named() -> None:
    lines = (line("traceback", "Traceback (most recent call last):\n  …\nValueError: bad batch", 9),)
    crash = incident("RUN-05", "critical", first=100, open=True, title="Crash", evidence=moved(lines=lines))
    told = case(findings(crash), run(finished=False))
    assert verdict.headline(told) == "Crashed after step 100: uncaught ValueError"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"growing": True, "planned_steps": 500}, "Still running: as of step 100 of 500"),
        ({"finished": False, "planned_steps": 500}, "Stopped at step 100 of 500 without a word"),
        ({"finished": False, "steps": 0, "last_step": None}, "No training step was logged"),
        ({"growing": True, "steps": 0, "last_step": None}, "Still running, no step logged yet"),
    ],
)
def test_an_unfinished_run_says_how_far_it_came(changes: dict[str, Any], expected: str) -> None:
    assert verdict.headline(case(findings(), run(**changes))) == expected


def test_an_unfinished_run_still_tells_its_warnings() -> None:
    told = case(findings(incident()), run(growing=True))
    assert verdict.sentence(told).startswith("Gradient spike from step 50. Gradient norm 5.0 exceeds 1.0.")


def test_the_best_training_score_is_a_window_mean_not_a_lucky_step() -> None:
    scores = np.full(100, 0.5)
    scores[70] = 1.0
    told = case(findings(phases=[("climb", 1, 100)]), columns={"critic/score/mean": scores})
    assert verdict.sentence(told).startswith("Best training score 0.55 at step ")


def test_an_unfinished_run_does_not_say_twice_that_it_stopped() -> None:
    ended = incident(
        "RUN-07", "warning", first=100, title="Ended early", message="The log ends at step 100 of 500"
    )
    told = case(findings(ended, incident(first=20)), run(finished=False, planned_steps=500))
    assert verdict.sentence(told).startswith("Gradient spike from step 20.")
    assert "ended early" not in verdict.sentence(told).lower()


def test_a_checkpoint_that_left_nothing_to_train_is_the_explanation() -> None:
    lines = (line("resumed", "Resuming from /ckpt/global_step_105", level="info"),)
    facts = run(finished=False, steps=0, first_step=None, last_step=None, planned_steps=105)
    assert verdict.headline(case(findings(), facts, lines=lines)) == (
        "No training step was logged: resumed at step 105 of 105"
    )


def test_a_healthy_run_whose_last_validation_is_not_its_best_says_both() -> None:
    columns = {"val-core/gsm8k/acc/mean@1": [0.5, 0.8, 0.7]}
    told = case(findings(phases=[("climb", 1, 100)]), columns=columns)
    assert verdict.sentence(told).startswith("Best validation 0.8 on gsm8k at step 2, 0.7 at the end.")


def test_a_supervised_run_is_known_by_its_lowest_loss() -> None:
    told = case(findings(), columns={"val/loss": [2.0, 1.0, 1.5]})
    assert verdict.sentence(told).startswith("Lowest validation loss 1 at step 2, 1.5 at the end.")


def test_what_a_title_adds_in_brackets_stays_out_of_a_sentence() -> None:
    told = case(findings(incident("REW-06", title="No learning (never leaves exploration)")))
    assert verdict.headline(told) == "No learning from step 50"


def test_no_metric_is_suspected_of_having_filled_the_disk() -> None:
    lines = (line("disk", "OSError: [Errno 28] No space left on device", 9),)
    full = incident(
        "RUN-06", "critical", first=100, open=True, title="Disk full", evidence=moved(lines=lines)
    )
    early = incident("ENT-01", "warning", first=97, open=True, title="Entropy exhausted")
    told = case(findings(early, full), run(finished=False))
    assert verdict.headline(told) == "Crashed after step 100: disk full"
    assert "First sign at step 97: entropy exhausted." in verdict.sentence(told)


def test_suspected_reward_hacking_is_named_before_what_else_happened() -> None:
    jump = incident("KL-05", "critical", first=10, open=True, title="Sudden KL jump")
    found = (
        jump,
        incident("LEN-02", "error", first=50, title="Length collapse"),
        incident("REW-03", "error", first=80, title="Reward hacking signature (training signals)"),
    )
    assert "Also reward hacking suspected at step 80, and 1 more." in verdict.sentence(case(findings(*found)))


def test_a_spike_that_grows_into_an_explosion_is_not_its_cause() -> None:
    spike = incident("GRD-01", "error", first=36, title="Gradient spike")
    explosion = incident("GRD-02", "error", first=38, open=True, title="Gradient explosion")
    assert "First sign" not in verdict.sentence(case(findings(spike, explosion)))


def test_what_the_first_sign_grew_into_is_named_as_the_root() -> None:
    spike = incident("GRD-01", "warning", first=36, title="Gradient spike")
    explosion = incident("GRD-02", "error", first=38, title="Gradient explosion")
    sentence = verdict.sentence(
        case(findings(spike, explosion, replace(HACKING, severity=Severity.CRITICAL)))
    )
    assert "First sign at step 38: gradient explosion (suspected root)." in sentence


@pytest.mark.parametrize(
    ("kind", "text", "ends"),
    [
        ("info", "(Pdb)", " of 500; in the debugger (Pdb)"),
        ("traceback", "BrokenPipeError: [Errno 32] Broken pipe", " of 500; BrokenPipeError at exit"),
        ("checkpoint_saved", "Saved model to step 100", " of 500 without a word"),
    ],
)
def test_a_run_that_stopped_says_what_its_log_says_last(kind: str, text: str, ends: str) -> None:
    lines = (line(kind, text, step=100, level="info"),)
    facts = run(finished=False, planned_steps=500)
    assert verdict.headline(case(findings(), facts, lines=lines)) == f"Stopped at step 100{ends}"


def test_nothing_to_train_and_then_the_debugger() -> None:
    lines = (
        line("resumed", "Setting global step to 105", 5, level="info"),
        line("info", "(Pdb)", 9, level="info"),
    )
    facts = run(finished=False, steps=0, first_step=None, last_step=None, planned_steps=105)
    assert verdict.headline(case(findings(), facts, lines=lines)) == (
        "No training step was logged: resumed at step 105 of 105; in the debugger (Pdb)"
    )
