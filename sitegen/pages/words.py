"""Numbers, dates and states as people read them. Used by templates as filters; no locale, no clock."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from sitegen.language import ENGLISH, known, spoken, t
from sitegen.language.retold import retold

THIN = "\u202f"  # narrow no-break space between thousands and before units
MISSING = "–"

_HAN = re.compile("[\u4e00-\u9fff]")

SEVERITIES = ("critical", "error", "warning", "info")
STATUSES = ("crashed", "failed", "unfinished", "attention", "healthy")
_PLURALS = {"info": ("remark", "remarks")}


def number(value: float | None, digits: int = 4) -> str:
    """`value` with `digits` significant digits: 0.8416, 1 245, 3.2e-6; a dash where there is none."""
    if value is None:
        return MISSING
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if size >= 1e7 or (0 < size < 1e-3):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{_trim(mantissa)}e{int(exponent)}"
    if size >= 1000:
        return count(round(value))
    decimals = max(0, digits - 1 - (math.floor(math.log10(size)) if size >= 1 else 0))
    return _trim(f"{value:.{min(decimals, 6)}f}")


def score(value: float | None) -> str:
    """A score in a column: three decimals below 10, so that digits stand under digits."""
    if value is None or not math.isfinite(value) or abs(value) >= 10 or 0 < abs(value) < 0.001:
        return number(value)
    return f"{value:.3f}"


def count(value: int | None) -> str:
    """A whole number with narrow spaces between thousands."""
    return MISSING if value is None else f"{value:,}".replace(",", THIN)


def hours(value: float | None) -> str:
    """GPU-hours: one decimal below 10, whole above."""
    if value is None:
        return MISSING
    return f"{value:.1f}" if value < 9.95 else count(round(value))


def duration(seconds: float | None) -> str:
    """`14 h 20 m`, `3 m 5 s`, `42 s`; a dash where unknown."""
    if seconds is None:
        return MISSING
    whole = round(seconds)
    if whole < 60:
        return t("{s}\u202fs", s=whole)
    if whole < 3600:
        return t("{m}\u202fm {s}\u202fs", m=whole // 60, s=whole % 60)
    return t("{h}\u202fh {m}\u202fm", h=count(whole // 3600), m=whole % 3600 // 60)


def date(stamp: float | None) -> str:
    """ISO date in UTC of Unix seconds."""
    moment = _moment(stamp)
    return MISSING if moment is None else _dated(moment)


def minute(stamp: float | None) -> str:
    """ISO date and minute in UTC of Unix seconds."""
    moment = _moment(stamp)
    return MISSING if moment is None else f"{_dated(moment)} {moment:%H:%M} UTC"


def month(stamp: float | None) -> str:
    """`2026-11` in UTC, "" where unknown."""
    moment = _moment(stamp)
    return "" if moment is None else moment.strftime("%Y-%m")


def plural(n: int, one: str, many: str = "") -> str:
    """`1 run`, `2 runs`."""
    said = known(f"{{n}} {one}")
    if said is not None:
        return said.format(n=count(n))
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def severity(word: str, n: int) -> str:
    """`2 errors`, `1 remark`: how often a severity occurred."""
    one, many = _PLURALS.get(word, (word, word if word == "critical" else word + "s"))
    return plural(n, one, many)


def span(first: int | None, last: int | None) -> str:
    """`steps 413–600`, `step 7`, or `before the first step`."""
    if first is None:
        return t("before the first step")
    if last is None or last == first:
        return t("step {step}", step=count(first))
    return t("steps {first}–{last}", first=count(first), last=count(last))


def worst(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Severities that occurred, worst first."""
    return [(word, counts[word]) for word in SEVERITIES if counts.get(word, 0)]


def english(text: str) -> bool:
    """Whether `text` is English prose on a page in another language, which should be said of it."""
    return spoken() != ENGLISH and not _HAN.search(text)


def clip(text: str, length: int = 120) -> str:
    """`text` cut to `length` characters with an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _dated(moment: datetime) -> str:
    """`2026-11-29`, or 2026年11月29日: a pattern with the names of year, month and day."""
    pattern = known("{year}-{month}-{day}")
    if pattern is None:
        return moment.strftime("%Y-%m-%d")
    return pattern.format(year=moment.year, month=moment.month, day=moment.day)


def _moment(stamp: float | None) -> datetime | None:
    if stamp is None or not math.isfinite(stamp):
        return None
    try:
        return datetime.fromtimestamp(stamp, UTC)
    except (OverflowError, OSError, ValueError):  # a log may claim any year
        return None


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


FILTERS = {
    "number": number,
    "score": score,
    "count": count,
    "hours": hours,
    "duration": duration,
    "date": date,
    "minute": minute,
    "month": month,
    "plural": plural,
    "retold": retold,
    "english": english,
    "severity": severity,
    "worst": worst,
    "clip": clip,
    "span": span,
}
