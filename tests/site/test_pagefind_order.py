"""Pagefind's index in one order, whatever order its hash maps had."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sitegen.site import pagefind_order
from sitegen.site.pagefind_order import Value, decode, encode, sort_index

values = st.recursive(
    st.integers(0, 2**64 - 1) | st.text(max_size=300), lambda inner: st.lists(inner, max_size=30)
)


@given(values)
def test_what_is_written_is_read_again(value: Value) -> None:
    data = encode(value)
    assert decode(data) == (value, len(data))


def put(file: Path, value: Value) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(b"pagefind_dcd" + encode(value)))


def index(folder: Path, filters: list[str], kinds: list[str]) -> Path:
    """An index with the given order of filters, and of the values of `kind`."""
    folder.mkdir()
    about = {"version": "1.5.2", "languages": {"en": {"hash": "en_1", "wasm": "en", "page_count": 2}}}
    (folder / "pagefind-entry.json").write_text(json.dumps(about))
    listed: Value = [[name, f"en_{name}"] for name in filters]
    put(folder / "pagefind.en_1.pf_meta", ["1.5.2", [["en_p", 7]], [], listed, [], []])
    for name in filters:
        put(folder / f"filter/en_{name}.pf_filter", [name, [[kind, [0, 1]] for kind in kinds]])
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_two_orders_become_the_same_bytes(tmp_path: Path) -> None:
    one = index(tmp_path / "1", ["kind", "rule"], ["run", "board"])
    two = index(tmp_path / "2", ["rule", "kind"], ["board", "run"])
    assert sort_index(one) and sort_index(two)
    assert everything(one) == everything(two)


def test_names_still_lead_from_the_entry_to_the_filters(tmp_path: Path) -> None:
    folder = index(tmp_path / "1", ["kind"], ["run"])
    sort_index(folder)
    hashed = json.loads((folder / "pagefind-entry.json").read_text())["languages"]["en"]["hash"]
    meta = pagefind_order._read(folder / f"pagefind.{hashed}.pf_meta")
    assert isinstance(meta, list)
    [[title, name]] = meta[3]  # type: ignore[misc]
    assert pagefind_order._read(folder / f"filter/{name}.pf_filter") == [title, [["run", [0, 1]]]]


def test_a_format_that_is_new_to_us_is_left_alone(tmp_path: Path) -> None:
    folder = index(tmp_path / "1", ["kind"], ["run"])
    put(folder / "pagefind.en_1.pf_meta", ["2.0"])
    before = everything(folder)
    assert not sort_index(folder)
    assert everything(folder) == before
