"""The phases of a run as one bar with its incidents above it. HTML, so that its words keep their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from sitegen.charts.frame import Frame, Mark, Span
from sitegen.charts.markup import drawn
from sitegen.language import t

_LANES = 9  # with names
_MOST_LANES = 16
_ROOM = 0.075  # of the width, for "KL-05" with its sign on a desktop page
_SIGN = 0.012  # of the width, for a sign alone
_FLIP = 0.92
_DIGIT = 0.012  # of the width, for a digit of a step on a desktop page
_DIGIT_ON_PHONE = 0.024  # and where the bar is 288 px wide
_RANK = {"critical": 0, "error": 1, "warning": 2, "info": 3}
_WORDS = {"critic_warmup": "critic warm-up", "warmup": "warm-up"}


def phase_word(phase: str) -> str:
    """How people call a phase: `critic_warmup` is "critic warm-up"."""
    return t(_WORDS.get(phase, phase))


def ribbon(frame: Frame) -> Markup:
    """Phase bar with incident marks that link to their cards, and the steps where phases start."""
    words = [f"{phase_word(span.phase)} {_steps(span)}" for span in frame.spans] or [t("none found")]
    label = escape(t("Phases: {phases}", phases=t("; ").join(words)))
    bar = "".join(_phase(span, frame) for span in frame.spans) + "".join(
        _resume(at, frame) for at in frame.resumes
    )
    if not frame.spans:
        bar += f'<span class="sg-ribbon-none">{escape(t("no phase could be told"))}</span>'
    lanes = _in_lanes(frame)
    height = max((lane for _, lane in lanes), default=-1) + 1
    marks = "".join(_mark(mark, lane, frame) for mark, lane in lanes)
    above = f'<div class="sg-ribbon-marks" style="--sg-lanes:{height}">{marks}</div>' if lanes else ""
    return drawn(
        f'<div class="sg-ribbon">{above}'
        f'<div class="sg-ribbon-bar" data-sg-range="{frame.first} {frame.last}" role="img" '
        f'aria-label="{label}">{bar}</div>'
        f'<div class="sg-ribbon-steps" aria-hidden="true">{_starts(frame)}</div></div>'
    )


def _steps(span: Span) -> str:
    if span.first == span.last:
        return t("step {step}", step=span.first)
    return t("steps {first} to {last}", first=span.first, last=span.last)


def _edges(span: Span, frame: Frame) -> tuple[float, float]:
    if frame.first == frame.last:
        return 0.0, 1.0
    return frame.position(span.first), frame.position(span.last + 1)


def _phase(span: Span, frame: Frame) -> str:
    left, right = _edges(span, frame)
    word = phase_word(span.phase)
    fits = (right - left) * 150 > len(word)  # about so many characters fit on a desktop page
    name = f'<span class="sg-phase-word">{escape(word)}</span>' if fits else ""
    return (
        f'<span class="sg-phase sg-bg-{escape(span.phase)}" data-sg-steps="{span.first},{span.last}" '
        f'style="left:{left:.2%};width:{right - left:.2%}" '
        f'title="{escape(word)}, {_steps(span)}">{name}</span>'
    )


def _resume(step: int, frame: Frame) -> str:
    left = f"left:{frame.position(step):.2%}"
    title = escape(t("resumed at step {step}", step=step))
    return f'<span class="sg-resume" style="{left}" title="{title}"></span>'


def _in_lanes(frame: Frame) -> list[tuple[Mark, int]]:
    """Each mark with the lowest lane in which it runs into no other; the worst choose first.

    A mark whose name finds no room, and a remark that would need a second lane for it, stands without.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_LANES)]
    out = []
    for mark in sorted(frame.marks, key=lambda one: (_RANK.get(one.severity, 9), one.step, one.label)):
        at = frame.position(mark.step)
        lanes = taken[:1] if mark.severity == "info" else taken
        lane = _free(_room(at), lanes)
        if lane is not None:
            taken[lane].append(_room(at))
            out.append((mark, lane))
            continue
        lane = _free((at, at + _SIGN), taken)
        if lane is None:  # one more lane, so that no mark covers another; within reason
            taken.extend([] for _ in range(len(taken) < _MOST_LANES))
            lane = len(taken) - 1
        taken[lane].append((at, at + _SIGN))
        out.append((replace(mark, label=""), lane))
    return sorted(out, key=lambda one: (one[0].step, one[1]))


def _free(room: tuple[float, float], lanes: list[list[tuple[float, float]]]) -> int | None:
    left, right = room
    return next((k for k, lane in enumerate(lanes) if all(right <= a or left >= b for a, b in lane)), None)


def _room(at: float) -> tuple[float, float]:
    """What a mark and its name cover; near the right end the name stands left of the mark."""
    return (at - _ROOM, at + _SIGN) if at > _FLIP else (at, at + _ROOM)


def _mark(mark: Mark, lane: int, frame: Frame) -> str:
    at = frame.position(mark.step)
    flip = at > _FLIP
    side = f"right:{1 - at:.2%}" if flip else f"left:{at:.2%}"
    return (
        f'<a class="sg-mark sg-mark--{escape(mark.severity)}{" sg-mark--flip" if flip else ""}" '
        f'href="{escape(mark.href)}" style="{side};bottom:{lane * 0.85:.2f}rem" title="{escape(mark.title)}">'
        f"<span>{escape(mark.label)}</span></a>"
    )


def _starts(frame: Frame) -> str:
    """Steps under the bar: where phases start, as far as the numbers do not touch, and the end."""
    steps = sorted({frame.first, *(span.first for span in frame.spans)})
    kept, phone = _apart(steps, frame, _DIGIT), _apart(steps, frame, _DIGIT_ON_PHONE)
    out = [_start(step, frame, "" if step in phone else ' class="sg-roomy"') for step in kept]
    if frame.last != frame.first:
        out.append(f'<span style="right:0">{frame.last}</span>')
    return "".join(out)


def _start(step: int, frame: Frame, kind: str) -> str:
    at = frame.position(step) if frame.first != frame.last else 0.0
    return f'<span{kind} style="left:{at:.2%}">{step}</span>'


def _apart(steps: Sequence[int], frame: Frame, digit: float) -> tuple[int, ...]:
    """Those whose numbers touch neither the one before nor the last; `digit` = its width, of the bar's."""
    if frame.first == frame.last:
        return tuple(steps[:1])
    kept, free, end = [], 0.0, 1 - digit * (len(str(frame.last)) + 1)
    for step in steps:
        at = frame.position(step)
        if free <= at and (at + digit * len(str(step)) <= end or step == frame.first):
            kept.append(step)
            free = at + digit * (len(str(step)) + 1)
    return tuple(kept)
