"""Secrets that a shape gives away which nothing else has."""

from __future__ import annotations

import re

# Kind; texts one of which must occur for the pattern to be tried; whether in folded text; pattern.
Shape = tuple[str, tuple[str, ...], bool, re.Pattern[str]]


def _shape(kind: str, needle: str | tuple[str, ...], pattern: str, flags: int = 0) -> Shape:
    """A pattern that ignores case has its needles in lower case."""
    needles = (needle,) if isinstance(needle, str) else needle
    return kind, needles, bool(flags & re.IGNORECASE), re.compile(pattern, flags)


_LABEL = r"[A-Za-z0-9\-\u00c0-\u1fff\u3040-\ud7ff]"  # letters of a host name, in any script

# Group 1, where there is one, is kept in front of the mark.
SHAPES: tuple[Shape, ...] = (
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
