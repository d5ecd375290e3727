"""Advice that is about the call which failed comes first."""

from __future__ import annotations

import pytest

from sitegen.reports import crash
from tests.reports.made import incident, line, moved

UPDATE = "In the update: smaller `actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu`."
GENERATION = "In generation: lower `actor_rollout_ref.rollout.gpu_memory_utilization`."
ADVICE = (UPDATE, GENERATION, "Read the message.")


@pytest.mark.parametrize(
    ("call", "first"),
    [
        ("generate_sequences", GENERATION),
        ("actor_rollout_generate_sequences", GENERATION),
        ("update_actor", UPDATE),
        ("init_model", UPDATE),  # no advice of its own: the order of the card
    ],
)
def test_the_advice_follows_the_failing_call(call: str, first: str) -> None:
    told = (line("cuda_oom", "torch.OutOfMemoryError: CUDA out of memory", 31),)
    oom = incident("RUN-01", "critical", advice=ADVICE, evidence=moved(lines=told))
    trace = line("traceback", f'File "workers.py", line 780, in {call}', 23)
    found = crash.advised(oom, (*told, trace))
    assert found.advice[0] == first
    assert sorted(found.advice) == sorted(ADVICE)


def test_other_rules_keep_the_order_of_their_card() -> None:
    trace = line("traceback", 'File "workers.py", line 780, in generate_sequences', 23)
    spike = incident("GRD-01", advice=ADVICE, evidence=moved(lines=(trace,)))
    assert crash.advised(spike, (trace,)).advice == ADVICE
