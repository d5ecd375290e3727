"""Every shared word of SQL says what the same sentence in numpy says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sitegen.store import Store
from tests.store.written import Written

ROWS = 130
rng = np.random.default_rng(7)
#: Two runs, so that a window that forgets its PARTITION BY is caught; one value in ten is missing.
RUNS = {name: np.exp(rng.normal(0, 0.4, ROWS)) for name in ("a", "b")}
for values in RUNS.values():
    values[rng.choice(ROWS, 13, replace=False)] = np.nan


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    shelf = Written(Path(tmp_path_factory.mktemp("macros")))
    for name, values in RUNS.items():
        shelf.add(name, {"actor/grad_norm": values, "critic/score/mean": np.sin(np.arange(ROWS))})
    return Store(shelf)


def ask(store: Store, expression: str) -> dict[str, np.ndarray]:
    rows = store.table(f"SELECT run, {expression} AS v FROM steps s ORDER BY run, row")
    runs, found = np.array(rows["run"].to_pylist()), rows["v"].to_numpy().astype(float)
    return {name: found[runs == name] for name in RUNS}


def known(x: np.ndarray) -> np.ndarray:
    return x[np.isfinite(x)]


def line(x: np.ndarray, rows: np.ndarray) -> tuple[float, float, float, float]:
    """Slope, intercept, residual sd and t of the least-squares line through the known values."""
    kept = np.isfinite(x)
    slope, intercept = np.polyfit(rows[kept], x[kept], 1)
    rest = x[kept] - slope * rows[kept] - intercept
    sd = np.sqrt((rest**2).sum() / (kept.sum() - 2))
    return slope, intercept, sd, slope * np.sqrt(((rows[kept] - rows[kept].mean()) ** 2).sum()) / sd


def scaled_mad(x: np.ndarray) -> float:
    return 1.4826 * float(np.median(np.abs(x - np.median(x))))


def trailing(
    say: Callable[[np.ndarray, np.ndarray], float], n: int, least: float
) -> Callable[[np.ndarray], np.ndarray]:
    def over(x: np.ndarray) -> np.ndarray:
        return window(x, lambda row: (max(0, row - n + 1), row + 1), say, least)

    return over


def previous(
    say: Callable[[np.ndarray, np.ndarray], float], n: int, gap: int, least: float
) -> Callable[[np.ndarray], np.ndarray]:
    def over(x: np.ndarray) -> np.ndarray:
        return window(x, lambda row: (max(0, row - n - gap), max(0, row - gap)), say, least)

    return over


def window(
    x: np.ndarray,
    cut: Callable[[int], tuple[int, int]],
    say: Callable[[np.ndarray, np.ndarray], float],
    least: float,
) -> np.ndarray:
    found = np.full(len(x), np.nan)
    for row in range(len(x)):
        first, end = cut(row)
        part = x[first:end]
        if np.isfinite(part).sum() >= least:
            found[row] = say(part, np.arange(first, end) + 1.0)
    return found


CASES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tavg(grad_norm, s, 10)": trailing(lambda x, _: known(x).mean(), 10, 8),
    "tmed(grad_norm, s, 5)": trailing(lambda x, _: np.median(known(x)), 5, 4),
    "tmed(grad_norm, s, s.w)": trailing(lambda x, _: np.median(known(x)), 20, 16),
    "tmax(grad_norm, s, 10)": trailing(lambda x, _: known(x).max(), 10, 8),
    "tmin(grad_norm, s, 10)": trailing(lambda x, _: known(x).min(), 10, 8),
    "tsd(grad_norm, s, 10)": trailing(lambda x, _: known(x).std(ddof=1), 10, 8),
    "pavg(grad_norm, s, 20, 5)": previous(lambda x, _: known(x).mean(), 20, 5, 16),
    "pavg(grad_norm, s, 20)": previous(lambda x, _: known(x).mean(), 20, 0, 16),
    "pmed(grad_norm, s, 50)": previous(lambda x, _: np.median(known(x)), 50, 0, 16),
    "pmed(grad_norm, s, 10, 3)": previous(lambda x, _: np.median(known(x)), 10, 3, 8),
    "pmad(grad_norm, s, 50)": previous(lambda x, _: scaled_mad(known(x)), 50, 0, 16),
    "rsd(grad_norm, s, 50, 10)": previous(lambda x, rows: line(x, rows)[2], 50, 10, 16),
    "slope(grad_norm, s, 30)": trailing(lambda x, rows: line(x, rows)[0], 30, 24),
    "tval(grad_norm, s, 30)": trailing(lambda x, rows: line(x, rows)[3], 30, 24),
    "count(*) OVER (PARTITION BY run ORDER BY row)": lambda x: np.arange(1.0, len(x) + 1),
    "tcount(grad_norm > 1, s, 10)": trailing(lambda x, _: float((known(x) > 1).sum()), 10, 0),
    "best(grad_norm, s)": lambda x: np.fmax.accumulate(x),
    "ago(grad_norm, s, 7)": lambda x: np.concatenate([np.full(7, np.nan), x[:-7]]),
}


@pytest.mark.parametrize("expression", CASES)
def test_windows(store: Store, expression: str) -> None:
    for name, found in ask(store, expression).items():
        np.testing.assert_allclose(found, CASES[expression](RUNS[name]), rtol=1e-9, atol=1e-12)


def test_forecast_extends_the_line_to_this_row(store: Store) -> None:
    for name, found in ask(store, "forecast(grad_norm, s, 50, 10)").items():
        x = RUNS[name]
        for row in (30, 80, 129):
            first, end = max(0, row - 60), row - 10
            slope, intercept, *_ = line(x[first:end], np.arange(first, end) + 1.0)
            assert found[row] == pytest.approx(intercept + slope * (row + 1))
        assert np.isnan(found[20])  # 10 rows before the gap are too few


def test_lz_is_the_robust_z_of_the_logarithm_with_a_floor(store: Store) -> None:
    for name, found in ask(store, "lz(grad_norm, s)").items():
        x = np.log(RUNS[name])
        before = known(x[50:100])
        assert found[100] == pytest.approx(
            (x[100] - np.median(before)) / max(scaled_mad(before), 0.10), nan_ok=True
        )


def test_lz_of_a_calm_series_uses_the_floor(shelf: Written) -> None:
    shelf.add("calm", {"actor/grad_norm": [1.0] * 60 + [np.e]})
    found = Store(shelf).select("SELECT lz(grad_norm, s) AS z FROM steps s ORDER BY row DESC LIMIT 1")
    assert found[0]["z"] == pytest.approx(10)


def test_lz_takes_values_that_are_not_positive_for_missing(shelf: Written) -> None:
    shelf.add("zero", {"actor/grad_norm": [1.0] * 60 + [0.0, -1.0]})
    found = Store(shelf).select("SELECT lz(grad_norm, s) AS z FROM steps s ORDER BY row DESC LIMIT 2")
    assert [row["z"] for row in found] == [None, None]


def test_tval_of_a_constant_is_zero_not_unknown(shelf: Written) -> None:
    shelf.add("flat", {"actor/grad_norm": [0.5] * 40})
    found = Store(shelf).select("SELECT tval(grad_norm, s, 20) AS t FROM steps s ORDER BY row DESC LIMIT 1")
    assert found[0]["t"] == 0


def test_favg_looks_ahead(store: Store) -> None:
    for name, found in ask(store, "favg(grad_norm, s, 5)").items():
        ahead = known(RUNS[name][40:45])
        assert found[40] == pytest.approx(ahead.mean()) if len(ahead) >= 4 else np.isnan(found[40])
        assert np.isnan(found[-1])


def test_at_best_is_the_companion_of_the_running_best(store: Store) -> None:
    for name, found in ask(store, "at_best(row, grad_norm, s)").items():
        assert found[99] == np.nanargmax(RUNS[name][:100]) + 1


def test_baselines_are_medians_of_the_first_rows(store: Store) -> None:
    for name, found in ask(store, "start(grad_norm, s)").items():
        np.testing.assert_allclose(found, np.nanmedian(RUNS[name][:20]))
    for name, found in ask(store, "early(grad_norm, s)").items():
        assert found[0] == pytest.approx(np.nanmedian(RUNS[name][19:70]))


def test_a_window_less_than_eighty_percent_full_says_nothing(shelf: Written) -> None:
    values = np.arange(1.0, 11.0)
    values[[2, 4, 6]] = np.nan
    shelf.add("holes", {"actor/grad_norm": values})
    found = Store(shelf).select("SELECT tavg(grad_norm, s, 10) AS v FROM steps s ORDER BY row DESC LIMIT 1")
    assert found[0]["v"] is None


def test_what_lies_before_a_tenth_of_the_gain_is_unlearned(shelf: Written) -> None:
    late = np.concatenate([np.zeros(60), np.linspace(0, 0.6, 40), np.full(30, 0.6)])
    shelf.add("a", {"critic/score/mean": late})
    shelf.add("b", {"critic/score/mean": np.full(ROWS, 0.3)})
    with Store(shelf) as store:
        said = ask(store, "unlearned(score_max, score_min, s)::INTEGER::DOUBLE")
    # means over 20 rows pass 0.06 eighteen rows into the climb
    assert said["a"][:60].all() and not said["a"][80:].any()
    assert not said["b"].any()


def test_a_batch_without_advantages_has_taught_nothing(shelf: Written) -> None:
    largest = np.where(np.arange(ROWS) < 30, 0.0, 2.0)
    norm = np.where(np.arange(ROWS) < 60, 0.5, 1e-9)
    shelf.add(
        "a", {"actor/grad_norm": norm, "critic/advantages/max": largest, "critic/advantages/min": -largest}
    )
    with Store(shelf) as store:
        said = ask(store, "taught(grad_norm, advantages_max, advantages_min, s)")["a"]
    assert np.isnan(said[:30]).all() and (said[30:60] == 0.5).all() and np.isnan(said[60:]).all()
