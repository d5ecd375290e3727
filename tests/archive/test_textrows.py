"""Secrets in records of any depth are taken out and counted."""

from __future__ import annotations

from collections import Counter

from sitegen.archive.textrows import cleaned

TOKEN = "hf_" + "a" * 34


def test_a_secret_is_taken_out_of_values_lists_and_names() -> None:
    secrets: Counter[str] = Counter()
    found = cleaned({"note": [f"use {TOKEN}", 1], TOKEN: None}, secrets)
    assert TOKEN not in str(found)
    assert secrets.total() == 2


def test_a_name_may_give_a_value_away() -> None:
    secrets: Counter[str] = Counter()
    assert cleaned({"password": "open sesame"}, secrets) != {"password": "open sesame"}
    assert secrets.total() == 1
