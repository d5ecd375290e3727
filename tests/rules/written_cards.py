"""A rule card in a few lines, for tests of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen import cards
from sitegen.rules.definition import Definition
from sitegen.rules.loading import define

SECTIONS = "\n".join(
    f"## {heading}\n- {heading} told\n" for heading in (
        "Why it matters", "Likely causes", "What to do", "What else looks like this", "Sources"
    )
)  # fmt: skip

ABOVE = (
    "SELECT run, row, step, grad_norm AS value, 1.0 AS threshold, grad_norm > 1 AS hit, "
    "grad_norm > 0.5 AS hold FROM steps"
)
CASES = """\
```toml case
name = "high"
series = { grad_norm = "0.1x10 2x5 0.1x20" }
expect = [[11, 15]]
```
```toml case
name = "low"
series = { grad_norm = "0.1x40" }
expect = []
```
"""


def text(
    sql: str = ABOVE,
    settings: str = "",
    cases: str = CASES,
    code: str = "GRD-99",
    needs: str = '["grad_norm"]',
) -> str:
    """Markdown of a card."""
    known = {"severity": '"warning"', "message": '"Gradient norm {value:.3g}"', "since": '"0.1.0"'}
    given = {line.split("=")[0].strip() for line in settings.splitlines()}
    defaults = "\n".join(f"{key} = {value}" for key, value in known.items() if key not in given)
    rule = f'```toml rule\ncode = "{code}"\nneeds = {needs}\n{defaults}\n{settings}\n```\n'
    return f"# A rule\nWhat it says.\n\n{rule}```sql\n{sql}\n```\n{SECTIONS}\n## Cases\n{cases}"


def faults(card: str, name: str = "GRD-99-a.md") -> list[str]:
    """What is wrong with a card, as `line: message`."""
    found, wrong = cards.parse(card, "rule", name)
    if found is not None:
        wrong = define(found, wrong)[1]
    return [f"{fault.line}: {fault.message}" for fault in wrong]


def rule(
    sql: str = ABOVE,
    settings: str = "",
    cases: str = CASES,
    code: str = "GRD-99",
    needs: str = '["grad_norm"]',
) -> Definition:
    """A rule without faults; the cases need not hold."""
    found, wrong = cards.parse(text(sql, settings, cases, code, needs), "rule", f"{code}-a.md")
    assert found is not None, wrong
    definition, wrong = define(found, wrong)
    assert definition is not None, wrong
    assert not wrong, list(map(str, wrong))
    return definition


def codes(found: Sequence[object]) -> list[str]:
    """Codes of incidents."""
    return [getattr(one, "rule", "") for one in found]
