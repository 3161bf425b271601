"""Data that changes on purpose: digits of which half have become brighter, and a made-up log of predictions that goes wrong at one site."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sample_models.recipe import SEED

BRIGHTER = 1.5
_LOG_ROWS, _HOURS = 2_400, 24 * 28
_SITES, _SHARES = ("north", "south", "harbour"), (0.5, 0.3, 0.2)
_CHANGED = 0.6
"""Of the log's time, after which one site has changed."""


def digits_before(path: Path) -> None:
    """One half of the digits that come with scikit-learn, chosen at random, from 0 to 1 as the digits classifiers take them."""
    images, labels = _digits(first=True)
    np.savez_compressed(path, x=images, y=labels)


def digits_brighter(path: Path) -> None:
    """The other half; every second image times `BRIGHTER`, as if a lamp had been exchanged."""
    images, labels = _digits(first=False)
    images[::2] = np.minimum(images[::2] * np.float32(BRIGHTER), 1)
    np.savez_compressed(path, x=images, y=labels)


def predictions_log(path: Path) -> None:
    """Four weeks of predictions as CSV; after `_CHANGED` of them the scanner of one site writes fainter, and is misread more often."""
    generator = np.random.default_rng(SEED)
    start = datetime(2026, 3, 2, tzinfo=UTC)
    hours = np.sort(generator.uniform(0, _HOURS, _LOG_ROWS))
    lines = ["when,site,ink,prediction,confidence,label"]
    for hour, site in zip(hours, generator.choice(_SITES, _LOG_ROWS, p=_SHARES), strict=True):
        faint = site == "harbour" and hour > _CHANGED * _HOURS
        ink = generator.normal(0.34 if faint else 0.5, 0.08)
        label = int(generator.integers(10))
        wrong = generator.random() < (0.4 if faint else 0.04)
        said = int(generator.choice([1, 7])) if wrong else label
        sure = generator.beta(5, 3) if wrong or faint else generator.beta(18, 2)
        when = start + timedelta(hours=float(hour))
        lines.append(f"{when:%Y-%m-%d %H:%M},{site},{ink:.3f},{said},{sure:.3f},{label}")
    path.write_text("\n".join(lines) + "\n")


def _digits(*, first: bool) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(images))
    half = order[: len(order) // 2] if first else order[len(order) // 2 :]
    return (images[half] / 16).astype(np.float32).reshape(-1, 8, 8, 1), labels[half].astype(np.uint8)
