"""Secrets leave a text before it is stored.

A secret is replaced by a stable mark such as `[redacted:hf-token]`, so that two builds give the same bytes
and a reader sees what kind of thing stood there. The rules look for shapes that nothing else has (a Hugging
Face token) or for a name that gives the value away (`WANDB_API_KEY=`). A W&B key alone is 40 hex digits, as a
git commit is: it is redacted only where its surroundings say what it is. Metric names, commits, paths and
token counts stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

# Kind; texts one of which must occur for the pattern to be tried; whether in folded text; pattern.
_Shape = tuple[str, tuple[str, ...], bool, re.Pattern[str]]


def _shape(kind: str, needle: str | tuple[str, ...], pattern: str, flags: int = 0) -> _Shape:
    """A pattern that ignores case has its needles in lower case."""
    needles = (needle,) if isinstance(needle, str) else needle
    return kind, needles, bool(flags & re.IGNORECASE), re.compile(pattern, flags)


_LABEL = r"[A-Za-z0-9\-\u00c0-\u1fff\u3040-\ud7ff]"  # letters of a host name, in any script

# Group 1, where there is one, is kept in front of the mark.
_SHAPES: tuple[_Shape, ...] = (
    _shape("private-key", "PRIVATE KEY",
           r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)",
           re.DOTALL),
    _shape("url-password", "://", r"(://)(?!\[redacted)[^\s/@:\"'<>]{0,200}:[^\s/\"'<>]{1,300}(?=@(?!sha256:)[\w\[])"),
    _shape("url-token", "://", r"(://)(?=[^\s/@:]{0,200}\d)[\w.~%+-]{10,200}(?=@[\w\[])"),
    _shape("url-signature", "sig=", r"([?&;]sig=)(?!\[redacted)[^&\s\"']{16,}"),
    _shape("webhook", "/hook/", r"((?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v\d/)?hook/)[\w-]{16,}"),
    _shape("webhook", "/webhooks/", r"(discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{5,25}/)[\w-]{20,}"),
    _shape("webhook", "/webhook/send", r"(/cgi-bin/webhook/send\?key=)[\w-]{16,}"),
    _shape("telegram-token", "/bot", r"(api\.telegram\.org/(?:file/)?bot)\d{5,15}:[\w-]{20,}"),
    _shape("telegram-token", ":AA", r"\b\d{8,12}:AA[\w-]{32,34}(?![\w-])"),
    _shape("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{30,}\b"),
    _shape("pypi-token", "pypi-", r"\bpypi-(?:AgE[\w-]{16,}|[\w-]{60,})"),
    _shape("sendgrid-key", "SG.", r"\bSG\.[\w-]{16,32}\.[\w-]{16,80}"),
    _shape("stripe-key", "k_", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("twilio-key", "SK", r"\bSK[0-9a-f]{32}\b"),
    _shape("age-key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _shape("docker-auth", "auth",
           r"([\"']auth\\?[\"']\s*:\s*\\?[\"'])(?=[^\"']{0,4000}[\dA-Z=])[A-Za-z0-9+/_-]{11,}={0,2}(?=\\?[\"'])"),
    _shape("cookie", "ookie",
           r"(\b(?:[Ss]et-)?[Cc]ookie[\"']?\s*[:=]\s*[\"']?)(?=[\w.%-]{1,80}=)[^\n\"']{6,4096}"),
    _shape("password", "sshpass",
           r"(\bsshpass\s+-p\s*)(?!\[redacted)(?:\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s\"']{1,200})"),
    _shape("password", "curl",
           r"(\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?\s{0,8}[\"']?[^\s:\"'\[]{1,100}:)"
           r"(?!\[redacted)[^\s\"']{1,200}"),
    _shape("password", "--",
           r"(--[\w-]{0,40}?(?:password|passwd|passphrase|pwd|secret)[ \t]{1,8})"
           r"(?!\[redacted|-|(?:none|null|true|false|is|was|for|not|required|or|and)\b)"
           r"(?:\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s\"',)\]}]{3,200})",
           re.IGNORECASE),
    _shape("password", "密",
           r"(密(?:码|碼|钥|鑰)\s{0,4}[：:=]\s{0,4}[\"']?)(?!\[redacted)[^\s\"',，。；;]{3,200}"),
    _shape("password", "口令", r"(口令\s{0,4}[：:=]\s{0,4}[\"']?)(?!\[redacted)[^\s\"',，。；;]{3,200}"),
    _shape("anthropic-key", "sk-ant-", r"\bsk-ant-[\w-]{16,}"),
    _shape("openai-key", "sk-", r"\bsk-(?=[\w-]{0,200}\d)[A-Za-z0-9][\w-]{19,}"),
    _shape("hf-token", "hf_", r"\bhf_[A-Za-z0-9]{24,}\b"),
    _shape("hf-token", "api_org_", r"\bapi_org_[A-Za-z0-9]{24,}\b"),
    _shape("wandb-key", "wandb_v1_", r"\bwandb_v1_\w{20,}"),
    _shape("wandb-key", "local-", r"\blocal-[0-9a-f]{40}\b"),
    _shape("wandb-key", ("wandb", "api", "netrc", "password", "login"),
           r"(\b(?:wandb|api[ _-]?key|netrc|password|login)\b[^\n]{0,60}?(?<![0-9A-Za-z]))"
           r"[0-9a-f]{40}\b(?!/)",
           re.IGNORECASE),
    _shape("github-token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{30,}\b"),
    _shape("github-token", "github_pat_", r"\bgithub_pat_\w{20,}"),
    _shape("gitlab-token", "gl", r"\bgl(?:pat|dt|rt|cbt|ptt|soat)-[\w-]{20,}"),
    _shape("google-key", "AIza", r"\bAIza[\w-]{35}"),
    _shape("google-key", "ya29.", r"\bya29\.[\w-]{20,}"),
    _shape("google-key", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    _shape("slack-token", "xox", r"\bxox[abeoprs]-[\w-]{10,}"),
    _shape("slack-token", "hooks.slack.com", r"(hooks\.slack\.com/services/)[\w/]{20,}"),
    _shape("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    _shape("aws-key", "x-amz-", r"(X-Amz-(?:Signature|Credential|Security-Token)=)[^&\s\"']+", re.IGNORECASE),
    _shape("jwt", "eyJ", r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{4,}"),
    _shape("bearer", ("bearer", "basic"),
           r"(\b(?:bearer|basic)\s+)(?=[^\s\"']{0,200}[\d=])[A-Za-z0-9._~+/=-]{16,}",
           re.IGNORECASE),
    _shape("bearer", ("authorization",),
           r"(\bauthorization[\"']?\s*[:=]\s*[\"']?(?:\w+\s+)?)(?!\[redacted)[A-Za-z0-9._~+/=-]{16,}",
           re.IGNORECASE),
    _shape("email", "@",
           r"(?<![\w.%+/-])(?!git@)\w[\w.%+-]{0,63}@(?!\dx\.)"
           rf"(?:(?=[\d-]{{0,62}}[^\W\d_]){_LABEL}{{1,63}}\.)+[^\W\d_]{{2,24}}\b(?![\w/]*:)"),
)  # fmt: skip

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
    if len(text) < _SHORTEST:
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
    for kind, needles, folds, pattern in _SHAPES:
        within = folded if folds else text
        for needle in needles:
            if needle in within:
                text = pattern.sub(_mark(kind, found), text)
                break
    return text, found


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
