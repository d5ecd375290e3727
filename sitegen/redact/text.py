"""Texts, names and values without their secrets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from sitegen.redact import site
from sitegen.redact.shapes import SHAPES

# `name = value`, `"name": "value"`, `--name value` where the name gives the value away.
_NAME = r"[\w.\-/]{0,80}"
_BARE = r"[^\s\"',;&(){}<>\[\]]{3,4096}"
_ASSIGNED = re.compile(
    rf"(?P<name>(?<![\w])(?:--)?{_NAME}?(?:pass(?:word|wd|phrase)|pwd|secret|token|key|credentials?){_NAME}?)"
    r"(?P<between>\\{0,3}[\"']?\s*(?:=|[:：](?!//)|\s(?=[A-Za-z0-9_\-]{20}))\s*[bru]?\\{0,3}(?P<quote>[\"'])?)"
    rf"(?P<value>(?(quote)(?:(?:(?!(?P=quote))[^\n]){{3,400}}(?=(?P=quote))|{_BARE})|{_BARE}))",
    re.IGNORECASE,
)
_SHORTEST = 6  # characters of a text that can hold a secret and what tells it
_TELLTALE = ("pass", "pwd", "secret", "token", "key", "credential")
_COLOUR = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[A-Za-z])?")
_STRONG = re.compile(r"(pass(?:word|wd|phrase)|pwd|secret|credential)", re.IGNORECASE)
_KEY = re.compile(
    r"(api|access|secret|private|account|auth|ssh|signing|encryption|service|client|shared)[_-]?key(?:$|[_-]?id$)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?:^|[._/\-])(?:\w*[_-])?token$|[a-z]Token$", re.IGNORECASE)
_VOCABULARY = re.compile(
    r"(eos|bos|pad|unk|sep|cls|mask|stop|special|begin|end|start|think|image|video|audio|last|first|next|per"
    r"|each|every|single|sub|max|min|num|tool|placeholder|fake|loss|by|in|of|valid)[_-]?token$",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(none|null|nil|true|false|\*+|x{3,}|<.*|\$.*|\[redacted.*|env|required|optional|missing|not|is|was|has"
    r"|.*:|and|or|the|for|in|to|found|set|unset|invalid|expired|string|str|int|bool|-?[\d.]+(e[+-]?\d+)?)$",
    re.IGNORECASE,
)


def redact(text: str) -> tuple[str, Counter[str]]:
    """`text` without its secrets, and how many of which kind stood in it."""
    if len(text) < _SHORTEST and not site.asks():
        return text, Counter()
    if "\x1b" in text:
        short, found = redact(_COLOUR.sub("", text))  # a colour may change within a secret
        return (short, found) if found else (text, found)
    text, found = _shaped(text)
    if _may_assign(text):
        text = _ASSIGNED.sub(lambda match: _assigned(match, found), text)
    return text, found


def redact_name(text: str) -> tuple[str, Counter[str]]:
    """As `redact` for the name of a metric, which may be `token=…` or `loss:…` and is no assignment.

    A name that speaks of a password is none of a metric; a key or a token must look drawn at random.
    """
    text, found = _shaped(text)
    if _may_assign(text) and any(sign in text for sign in "=:："):
        text = _ASSIGNED.sub(lambda match: _assigned(match, found, surely=True), text)
    return text, found


def _shaped(text: str) -> tuple[str, Counter[str]]:
    found: Counter[str] = Counter()
    folded = text.casefold()
    for kind, needles, folds, pattern in SHAPES:
        within = folded if folds else text
        for needle in needles:
            if needle in within:
                text = pattern.sub(_mark(kind, found), text)
                break
    return site.taken_out(text, found), found


def _may_assign(text: str) -> bool:
    """Whether `_ASSIGNED` can match at all; it takes longer than all shapes together."""
    if not any(sign in text for sign in ("=", ":", "--", "：")):
        return False
    folded = text.casefold()
    return any(word in folded for word in _TELLTALE)


def redact_value(name: str, value: str) -> tuple[str, Counter[str]]:
    """A setting's value without secrets; `name` may give it away. Shape of the result as `redact`."""
    short, found = redact(value)
    kind = _kind(name.rpartition(".")[2], short.strip())
    if kind and not _PLAIN.match(short.strip()) and "[redacted:" not in short:
        found[kind] += 1
        return f"[redacted:{kind}]", found
    return short, found


def _mark(kind: str, found: Counter[str]) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if kind == "email" and site.keeps(match[0]):
            return match[0]
        found[kind] += 1
        return (match[1] if match.re.groups else "") + f"[redacted:{kind}]"

    return replace


def _assigned(match: re.Match[str], found: Counter[str], surely: bool = False) -> str:
    name, value = match["name"], match["value"]
    kind = _kind(name, value)
    if kind is None or _PLAIN.match(value) or "[redacted:" in value:
        return match[0]
    if surely and kind in ("token", "key") and not _random(value):
        return match[0]
    words = value.split()
    if kind in ("token", "key") and len(words) > 1 and max(map(len, words)) < 16:
        return match[0]  # a sentence
    found[kind] += 1
    return f"{name}{match['between']}[redacted:{kind}]"


def _kind(name: str, value: str) -> str | None:
    """What a setting called `name` hides when its value is `value`, None when it hides nothing."""
    if _STRONG.search(name) and not name.lower().endswith(("_len", "_length", "_file", "_path", "_name")):
        return "password" if _STRONG.search(name)[1][:3].lower() in ("pas", "pwd") else "secret"  # type: ignore[index]
    if _KEY.search(name) and len(value) >= 8:
        return "key"
    if _TOKEN.search(name) and not _VOCABULARY.search(name) and len(value) >= 8:
        return "token"
    if name.lower().endswith(("_key", "-key", ".key")) and _random(value):
        return "key"
    return None


def _random(value: str) -> bool:
    """Whether a value looks drawn at random: long, letters and digits mixed, no path, no dotted name."""
    return (
        len(value) >= 20
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not any(c in value for c in "/.\\")
    )
