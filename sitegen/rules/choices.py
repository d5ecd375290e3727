"""What a site chooses among the rules: parameters, presets, rules switched off. All faults come at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sitegen.cards import nearest
from sitegen.errors import ConfigError
from sitegen.model import Rule

Overrides = Mapping[str, Mapping[str, object]]
_UNKNOWN = ("no rule ", "no card ")
#: Keys that lead to a choice, and what is wrong with it.
Wrong = tuple[tuple[str, ...], str]


def check(
    catalog: Iterable[Rule],
    params: Overrides,
    presets: Iterable[str] = (),
    muted: Iterable[str] = (),
    where: Callable[[Sequence[str]], str] = ": ".join,
) -> None:
    """Raise ConfigError that lists every choice which no card knows, each opened by `where` it stands."""
    wrong = faults(catalog, params, presets, muted, where)
    if wrong:
        raise ConfigError("\n".join(wrong))


def faults(
    catalog: Iterable[Rule],
    params: Overrides,
    presets: Iterable[str] = (),
    muted: Iterable[str] = (),
    where: Callable[[Sequence[str]], str] = ": ".join,
    whole: bool = True,
) -> list[str]:
    """Every choice which no card knows, each opened by `where` it stands.

    `whole`: `catalog` has all cards of the site; else a name that it lacks may be that of another card.
    """
    rules = tuple(catalog)
    wrong = [*_params(rules, params), *_presets(rules, presets), *_muted(rules, muted)]
    return [f"{where(keys)}: {text}" for keys, text in wrong if whole or not text.startswith(_UNKNOWN)]


def _params(catalog: Sequence[Rule], params: Overrides) -> Iterator[Wrong]:
    known = {rule.code: rule for rule in catalog}
    for code, values in params.items():
        if code not in known:
            yield ("params", code), f"no rule {code}{nearest(code, known)}"
            continue
        own = known[code].params
        for name, value in values.items():
            if name not in own:
                have = ", ".join(own) or "none"
                yield ("params", code, name), f"no param {name}{nearest(name, own)} (params: {have})"
            elif not _alike(own[name], value):
                yield ("params", code, name), f"must be like {own[name]!r}, not {value!r}"


def _alike(card: object, given: object) -> bool:
    if isinstance(card, bool) or isinstance(given, bool):
        return isinstance(card, bool) and isinstance(given, bool)
    return isinstance(given, str) == isinstance(card, str) and isinstance(given, str | int | float)


def _presets(catalog: Sequence[Rule], presets: Iterable[str]) -> Iterator[Wrong]:
    known = dict.fromkeys(name for rule in catalog for name in rule.presets)
    for name in presets:
        if name not in known:
            yield ("presets",), f"no card knows {name!r}{nearest(name, known)}"


def _muted(catalog: Sequence[Rule], muted: Iterable[str]) -> Iterator[Wrong]:
    known = [rule.code for rule in catalog]
    for code in muted:
        if code not in known:
            yield ("muted",), f"no rule {code}{nearest(code, known)}"
