"""A card is taken apart, and every fault is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen import cards
from sitegen.errors import CardError

GOOD = """\
# Entropy exhausted
The policy writes
the same text again and again.

```toml rule
code = "ENT-01"
params = { floor = 0.1 }
```
```sql
SELECT run
FROM steps
```

## Why it matters
Because.

It does.
## Likely causes
- one
- two

  ```sh
  grep -c x log
  ```
## Cases
```toml case
name = "first"
```
```toml case
name = "second"
```
"""


def card(text: str = GOOD, kind: str = "rule") -> cards.Card:
    found, faults = cards.parse(text, kind, "x/ENT-01-a.md")
    assert found is not None, faults
    assert not faults
    return found


def faults(text: str, kind: str = "rule") -> list[str]:
    return [str(fault) for fault in cards.parse(text, kind, "x/card.md")[1]]


def test_parts() -> None:
    found = card()
    assert found.title == "Entropy exhausted"
    assert found.summary == "The policy writes the same text again and again."
    assert found.slug == "ENT-01-a"
    assert found.settings.values == {"code": "ENT-01", "params": {"floor": 0.1}}
    assert found.sql == "SELECT run\nFROM steps\n"
    assert [case.values["name"] for case in found.cases] == ["first", "second"]


def test_sections_keep_their_markdown_and_lose_their_data() -> None:
    sections = card().sections
    assert list(sections) == ["Why it matters", "Likely causes", "Cases"]
    assert sections["Why it matters"] == "Because.\n\nIt does."
    assert "grep -c x log" in sections["Likely causes"]
    assert sections["Cases"] == ""


def test_lines_are_those_of_the_file() -> None:
    found = card()
    assert found.settings.line == 5
    assert found.settings.line_of("code") == 6
    assert found.settings.line_of("absent") == 5
    assert found.sql_line == 10
    assert [case.line for case in found.cases] == [26, 29]


def test_lines_do_not_depend_on_line_ends_or_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "ENT-01-a.md"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    found, wrong = cards.read(path, "rule")
    assert found is not None
    assert not wrong
    assert found.sql_line == 10
    assert found.title == "Entropy exhausted"


def test_a_board_has_a_fence_of_its_own() -> None:
    assert card(GOOD.replace("toml rule", "toml board"), "board").title == "Entropy exhausted"
    assert faults(GOOD, "board") == [
        "x/card.md:1: no ```toml board block",
        'x/card.md:5: unknown block "toml rule"; did you mean "toml case"?',
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("# Entropy exhausted\n", "\n"), "1: no title"),
        (("The policy writes\nthe same text again and again.\n", ""), "no summary"),
        (("```toml rule", "```toml rul"), 'unknown block "toml rul"; did you mean "toml rule"?'),
        (("```sql", "```sqll"), "no ```sql block"),
        (("code =", "code"), "6: not TOML"),
        (("## Likely causes", "## Why it matters"), '18: a second section "Why it matters"'),
        (("## Cases", "# Cases"), "25: a second `# Title`"),
        (('name = "second"', 'name = second"'), "30: not TOML"),
    ],
)
def test_faults_have_lines(change: tuple[str, str], told: str) -> None:
    assert any(told in fault for fault in faults(GOOD.replace(*change, 1)))


def test_all_faults_come_at_once() -> None:
    broken = GOOD.replace("# Entropy exhausted\n", "\n").replace('name = "first"', "name first")
    assert len(faults(broken)) >= 2


def test_a_second_query_is_a_fault() -> None:
    assert "x/card.md:32: a second ```sql block; there must be exactly one" in faults(
        GOOD + "```sql\nSELECT 1\n```\n"
    )


def test_a_file_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"\xff\xfe\x00")
    found, wrong = cards.read(path, "rule")
    assert found is None
    assert "cannot be read as UTF-8" in wrong[0].message


def test_files_come_by_name_and_only_once(tmp_path: Path) -> None:
    for folder, names in (("one", ["b.md", "a.md"]), ("two", ["a.md", "c.txt"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text("")
    assert [path.name for path, _ in cards.files([tmp_path / "one"])] == ["a.md", "b.md"]
    with pytest.raises(CardError, match="a card of this name exists"):
        cards.files([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(CardError, match="no such folder"):
        cards.files([tmp_path / "three"])


def test_faults_are_raised_together_in_order() -> None:
    with pytest.raises(CardError) as raised:
        cards.raise_faults([cards.Fault("b.md", 2, "late"), cards.Fault("a.md", 9, "early")])
    assert str(raised.value) == "a.md:9: early\nb.md:2: late"
    cards.raise_faults([])
