"""Names that verl changes for MLflow, and which of them can be changed back.

MLflow refuses some characters in a name: verl writes `@` as `_at_` (0.4), others as `_` (0.6), and several
slashes as one (0.7). A name is changed back only where the glossary knows what it was.
"""

from __future__ import annotations

import re
from functools import cache

from sitegen.metrics import glossary

_REFUSED = re.compile(r"[^\w./ :-]", re.ASCII)
_SAMPLED = re.compile(r"(?<=/)(mean|std|best|worst|maj)_at_(\d{1,9})(?=/|\Z)")


def mangled(name: str) -> str:
    """The name as verl gives it to MLflow."""
    return re.sub("//+", "/", _REFUSED.sub("_", name.replace("@", "_at_")))


def restored(name: str) -> str:
    """The name as it was logged where that is certain, else the name itself."""
    known = _known().get(name)
    if known is not None:
        return known
    if name.startswith(("val-core/", "val-aux/")):
        return _SAMPLED.sub(r"\1@\2", name)
    return name


@cache
def _known() -> dict[str, str]:
    """Mangled name -> the only name of the glossary that becomes it."""
    found: dict[str, set[str]] = {}
    for name in {name for metric in glossary().metrics for name in metric.names}:
        found.setdefault(mangled(name), set()).add(name)
    certain = {}
    for short, names in found.items():
        others = names - {short}
        if len(others) == 1:
            certain[short] = others.pop()
    return certain
