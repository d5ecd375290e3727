"""Advice names verl's config keys; the run's own values stand beside them."""

from __future__ import annotations

import pytest

from sitegen.pages import advice

CONFIG = {
    "actor_rollout_ref.actor.kl_loss_coef": "0.001",
    "actor_rollout_ref.actor.optim.lr": "1e-6",
    "critic.optim.lr": "1e-5",
    "data.train_files": "['<b>x</b>']",
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("actor_rollout_ref.actor.kl_loss_coef", "0.001"),
        ("actor.kl_loss_coef", "0.001"),
        ("+actor.kl_loss_coef=0.01", "0.001"),
        ("optim.lr", None),
        ("kl_loss_coef", None),
        ("trainer.nnodes", None),
        ("not a key", None),
    ],
)
def test_a_key_is_looked_up_in_full_or_by_the_only_end_that_fits(key: str, value: str | None) -> None:
    assert advice.current(key, CONFIG) == value


def test_the_value_stands_behind_the_key() -> None:
    html = advice.line("Raise `actor.kl_loss_coef`.", CONFIG)
    assert html == '<code>actor.kl_loss_coef</code> <span class="sg-now">(now 0.001)</span>.'.join(
        ["Raise ", ""]
    )


def test_values_from_logs_are_escaped() -> None:
    assert "<b>" not in advice.line("See `data.train_files`.", CONFIG)


def test_links_other_than_http_are_words() -> None:
    html = advice.line("[a](https://example.org) [b](javascript:alert(1)) [c](KL-05.md)", CONFIG)
    assert html.count("<a ") == 1
