"""A site of runs whose every number is known, for trying its charts in a browser."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

NAN_AT, SPIKE_AT, ROWS = 120, 200, 400
GAP = range(300, 306)  # steps that nobody logged


def value(step: int) -> float:
    """Score of `long` at a step: seventeen digits, a little noise."""
    return 0.2 + 0.5 * step / ROWS + 0.01 * math.sin(step * 12.9898)


def _line(step: int, metrics: dict[str, float]) -> str:
    return json.dumps({"step": step, "data": metrics}) + "\n"


def write(runs: Path) -> Path:
    """Runs `long` (NaN, spikes, a gap), `rewound` (resumed at 61 after 80), `short` and `hostile`."""
    rng = np.random.default_rng(3)
    others = {f"custom/metric_{k:02d}": rng.normal(size=ROWS) for k in range(36)}
    lines = []
    for step in range(1, ROWS + 1):
        metrics = {name: float(values[step - 1]) for name, values in others.items()}
        metrics["critic/score/mean"] = value(step)
        metrics["actor/grad_norm"] = (
            float("nan") if step == NAN_AT else 900.0 if step == 1 else 0.1 + 0.001 * (step % 7)
        )
        metrics["actor/kl_loss"] = 0.001 * math.exp(step / 60) if step != SPIKE_AT else 5.0
        metrics["actor/entropy"] = 0.4 - step / 2000
        metrics |= {
            "timing_s/step": 36.0,
            "perf/total_num_tokens": 1000.0,
            "training/epoch": float((step - 1) // 100),
        }
        if step % 50 == 0:
            metrics["val-core/gsm8k/acc/mean@1"] = value(step) - 0.1
        if step not in GAP:
            lines.append(_line(step, metrics))
    _put(runs / "long", lines)
    first = [
        _line(step, {"critic/score/mean": 0.5, "actor/entropy": 0.3 + step / 1000}) for step in range(1, 81)
    ]
    again = [
        _line(step, {"critic/score/mean": 0.5, "actor/entropy": 0.3 - step / 1000}) for step in range(61, 121)
    ]
    _put(runs / "rewound", first + again)
    _put(runs / "short", [_line(step, {"critic/score/mean": step / 30}) for step in range(1, 31)])
    odd = {"<img src=x onerror=alert(1)><b>": 1.0, "=1+1": 2.0, "{{ 7*7 }}": 3.0}
    _put(runs / "hostile", [_line(step, {**odd, "critic/score/mean": step / 10}) for step in range(1, 11)])
    return runs


def _put(folder: Path, lines: list[str]) -> None:
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(lines))
