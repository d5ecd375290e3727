"""`sitegen query`: the tables of CONTRACT.md over a whole archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from sitegen.model import Findings
from sitegen.store.frames import Shelf

if TYPE_CHECKING:
    from sitegen.store.store import Store

FindingsOf = Callable[[str], Findings | None]


def answer(store: Store, archive: Shelf, sql: str, findings: FindingsOf | None) -> pa.Table:
    """Run one SELECT on the tables of CONTRACT.md. Raises QueryError."""
    raise NotImplementedError
