"""Runs as tables. The only room that knows DuckDB."""

from sitegen.store.facts import has_log
from sitegen.store.frames import Frame, Shelf, best_of_n, empty_raw, main_validations, stride
from sitegen.store.portion import portions
from sitegen.store.relations import columns, keys_for, moves_table, presets_table, spans_table
from sitegen.store.store import CARD_SECONDS, RefusedError, Store
from sitegen.store.verify import Answers, verify

__all__ = [
    "CARD_SECONDS",
    "Answers",
    "Frame",
    "RefusedError",
    "Shelf",
    "Store",
    "best_of_n",
    "columns",
    "empty_raw",
    "has_log",
    "keys_for",
    "main_validations",
    "moves_table",
    "portions",
    "presets_table",
    "spans_table",
    "stride",
    "verify",
]
