"""Numbers as people read them: 1.2k, 0.05, 1e-6; never 08e+03."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_THIN = "\u202f"  # narrow no-break space between thousands


def human(value: float, digits: int = 3) -> str:
    """A number for text, `digits` significant digits, thousands apart: 0.0351, 987, 1 245, 3.2M, 1e-6."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e15:
        return scientific(value, digits)
    if size >= 1e6:
        return _with_suffix(value, digits)
    if size >= 10.0 ** (digits - 1):
        return f"{value:,.0f}".replace(",", _THIN)
    return _plain(value, digits)


def scientific(value: float, digits: int) -> str:
    """`1.5e-6`: mantissa without trailing zeros, exponent without sign and zeros that say nothing."""
    mantissa, exponent = f"{value:.{max(digits - 1, 0)}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}"


def tick_labels(ticks: Sequence[float], step: float) -> tuple[list[str], str]:
    """Labels of an axis and, where they would be too long, the offset they are counted from.

    Args:
        ticks: tick values, rising.
        step: distance between two ticks, > 0.

    Returns:
        One label per tick, at most 7 characters, and the offset as text ("" without one).
    """
    tiny = max(map(abs, ticks), default=0.0) < 1e-3 and step < 1e-3
    labels = [tick_label(tick, step, tiny) for tick in ticks]
    if max(map(len, labels), default=0) <= 7:
        return labels, ""
    base = ticks[0]
    return [f"+{tick_label(tick - base, step, step < 1e-3)}" for tick in ticks], human(base, 9)


def tick_label(value: float, step: float, tiny: bool) -> str:
    """A number for an axis whose ticks are `step` apart, no digit too many; 5e-4 where `tiny`."""
    size = abs(value)
    if size < step * 1e-6:
        return "0"
    if tiny or size >= 1e15:
        digits = _digits(size, step)
        exact = abs(float(f"{value:.{digits - 1}e}") - value) < step / 100
        return scientific(value, digits if exact else digits + 1)  # 2.5e-4 apart: not 3e-4, 5e-4, 8e-4
    for unit, suffix in _SUFFIXES:
        if size >= unit:
            return f"{_fixed(value / unit, step / unit)}{suffix}"
    return _fixed(value, step)


def _digits(size: float, step: float) -> int:
    return max(1, 1 + math.floor(math.log10(size) + 1e-9) - math.floor(math.log10(step) + 1e-9))


def _fixed(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if decimals == 0 and step < 10 and abs(step - round(step)) > 1e-6:
        decimals = 1
    text = f"{value:.{min(decimals + 1, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_suffix(value: float, digits: int) -> str:
    unit, suffix = next((unit, suffix) for unit, suffix in _SUFFIXES if abs(value) >= unit)
    scaled = value / unit
    return (f"{scaled:.0f}" if abs(scaled) >= 100 else _plain(scaled, digits)) + suffix


def _plain(value: float, digits: int) -> str:
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)) + 1e-12))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
