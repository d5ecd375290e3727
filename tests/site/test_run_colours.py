"""Colours of runs over each other: told apart by everybody, and read on their ground.

Colour blindness is simulated as in Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB;
distances are CIEDE2000.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from sitegen.site import folder

Vector = npt.NDArray[np.float64]

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
GROUND = {"light": "#ffffff", "dark": "#252932"}  # --sg-surface
LEAST, LEAST_OF_A_DASH = 14.0, 22.0


def palette(scheme: str) -> list[str]:
    css = (folder() / "assets/compare.css").read_text("utf-8")
    light, dark = re.findall(r"\{([^}]*--sg-run-1:[^}]*)\}", css)
    return re.findall(r"--sg-run-\d: (#[0-9a-f]{6})", light if scheme == "light" else dark)


def dashes() -> int:
    """After how many runs a dash comes again."""
    source = (folder() / "assets/compare/runs.js").read_text("utf-8")
    found = re.search(r"DASHES = \[(.*)\], COLOURS", source)
    assert found
    return found[1].count("[")


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: Vector) -> Vector:
    parts = XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: Vector, other: Vector) -> float:
    """CIEDE2000 between two colours in Lab."""
    mean = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25**7))
    chroma = [np.hypot(stretch * c[1], c[2]) for c in (one, other)]
    hue = [np.degrees(np.arctan2(c[2], stretch * c[1])) % 360 for c in (one, other)]
    turn = (hue[1] - hue[0] + 180) % 360 - 180
    middle = (hue[0] + turn / 2) % 360
    light, vivid = (one[0] + other[0]) / 2, sum(chroma) / 2
    wave = 1 + sum(
        size * np.cos(np.radians(times * middle + shift))
        for size, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    d_light = (other[0] - one[0]) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    d_chroma = (chroma[1] - chroma[0]) / (1 + 0.045 * vivid)
    d_hue = 2 * np.sqrt(chroma[0] * chroma[1]) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * vivid * wave)
    bend = 60 * np.exp(-(((middle - 275) / 25) ** 2))
    crossed = -2 * np.sqrt(vivid**7 / (vivid**7 + 25**7)) * np.sin(np.radians(bend))
    return float(np.sqrt(d_light**2 + d_chroma**2 + d_hue**2 + crossed * d_chroma * d_hue))


def contrast(one: str, other: str) -> float:
    """As WCAG has it."""
    low, high = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_the_distance_is_that_of_the_published_examples() -> None:
    # Sharma, Wu and Dalal (2005), table 1, rows 1 and 17
    assert distance(np.array([50, 2.6772, -79.7751]), np.array([50, 0, -82.7485])) == pytest.approx(
        2.0425, abs=1e-4
    )
    assert distance(np.array([50, 2.5, 0]), np.array([73, 25, -18])) == pytest.approx(27.1492, abs=1e-4)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("scheme", GROUND)
def test_no_two_runs_look_alike(scheme: str, vision: str) -> None:
    seen = [lab(VISIONS[vision] @ linear(colour)) for colour in palette(scheme)]
    assert len(seen) == 7
    for (i, one), (j, other) in combinations(enumerate(seen), 2):
        least = LEAST_OF_A_DASH if (j - i) % dashes() == 0 else LEAST
        assert distance(one, other) >= least, (i + 1, j + 1)


@pytest.mark.parametrize("scheme", GROUND)
def test_a_number_in_the_colour_of_a_run_can_be_read(scheme: str) -> None:
    assert min(contrast(colour, GROUND[scheme]) for colour in palette(scheme)) >= 4.5
