"""What a drift is looked for in: pictures, texts, sequences as a few numbers each; and how small a drift can show at all.

Columns of moments: dates in words or seconds since 1970, as numbers in the order of time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.numbers import DateReader
from stethoscope.data.study.pictures import area_means, few_pixels, grey_of

Numbers = npt.NDArray[np.float64]

THUMBNAIL = 8
"""Pixels along each side of the grey thumbnail that stands for a picture as a whole."""
HASHED_WORDS = 256
_WORD = re.compile(r"\w+", re.UNICODE)
_LETTER_OR_BLANK = re.compile(r"[^\W\d_]|\s", re.UNICODE)


def picture_measures(picture: npt.NDArray[Any]) -> tuple[dict[str, float], Numbers]:
    """Brightness, contrast, saturation, sharpness and channel means (each as a share of the full scale), size and aspect.

    Args:
        picture: (height, width) or (height, width, channels).

    Returns:
        The measures, and the grey thumbnail as (64,) numbers.

    Source: sharpness is the mean size of the 4-neighbour Laplacian (Pech-Pacheco et al., ICPR 2000, use its variance).
    """
    (height, width, channels), few = few_pixels(picture)
    few = few / _full_scale(picture)
    grey = grey_of(few)
    measures = {"brightness": float(grey.mean()), "contrast": float(grey.std())}
    if channels in (3, 4):
        high, low = few[..., :3].max(axis=2), few[..., :3].min(axis=2)
        measures["saturation"] = float(np.where(high > 0, (high - low) / np.maximum(high, 1e-12), 0.0).mean())
    if min(grey.shape) > 2:
        around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
        measures["sharpness"] = float(np.abs(around - 4 * grey[1:-1, 1:-1]).mean())
    if channels in (2, 3, 4):
        measures |= {f"channel {number}": float(few[..., number].mean()) for number in range(min(channels, 3))}
    measures |= {"width": float(width), "height": float(height), "aspect": width / height}
    return measures, area_means(grey, THUMBNAIL, THUMBNAIL).ravel()


def _full_scale(picture: npt.NDArray[Any]) -> float:
    """Of the type, not of the one picture: a bright and a dark picture must be measured alike."""
    return float(np.iinfo(picture.dtype).max) if picture.dtype.kind in "iu" else 1.0


def text_measures(text: str) -> dict[str, float]:
    """Characters, words, and which share of the characters is neither a letter nor a blank."""
    letters = len(_LETTER_OR_BLANK.findall(text))
    return {
        "characters": float(len(text)),
        "words": float(len(_WORD.findall(text))),
        "share of non-letters": 1 - letters / len(text) if text else 0.0,
    }


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def hashed_words(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """How often each group of words occurs, (texts, `HASHED_WORDS`), every row of length 1."""
    from sklearn.feature_extraction.text import HashingVectorizer

    made = HashingVectorizer(n_features=HASHED_WORDS, alternate_sign=False, norm="l2").transform(texts)
    dense: npt.NDArray[np.float32] = made.toarray().astype(np.float32)
    return dense


def unknown_shares(rows: Sequence[Sequence[Any]], known: set[Any]) -> Numbers:
    """Of each row the share of its words (or tokens) that are not known; 0 for an empty one."""
    return np.array([sum(one not in known for one in row) / len(row) if row else 0.0 for row in rows], np.float64)


def sequence_measures(values: npt.NDArray[Any]) -> dict[str, float]:
    """Of a sequence or array of numbers: its length, and mean, spread and bounds of its finite values (NaN where it has none)."""
    flat = np.asarray(values, np.float64).ravel()
    finite = flat[np.isfinite(flat)]
    found = {"length": float(values.shape[0]) if values.ndim else 1.0}
    if not finite.size:
        return found | dict.fromkeys(("mean", "spread", "smallest", "largest", "share of zeros"), float("nan"))
    return found | {
        "mean": float(finite.mean()),
        "spread": float(finite.std()),
        "smallest": float(finite.min()),
        "largest": float(finite.max()),
        "share of zeros": float((finite == 0).mean()),
    }


_NAME = re.compile(r"(?:.*[_ -])?(?:time|timestamp|ts|date|datetime|day|when|at|created|epoch)", re.I)
_EPOCH_S = (3e8, 4e9)
"""Seconds since 1970 from 1979 to 2096."""
_UNITS = (1.0, 1e3, 1e6, 1e9)


def looks_like_moments(name: str, values: npt.NDArray[np.float64]) -> bool:
    """Whether a column of numbers holds moments: its name says so, and all lie between 1979 and 2096."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and _NAME.fullmatch(name.strip()) and _unit(finite) is not None)


def as_seconds(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers of whichever unit since 1970 as seconds; other numbers as they are."""
    finite = values[np.isfinite(values)]
    return values / ((_unit(finite) if finite.size else None) or 1.0)


def seconds_of(texts: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Dates and times in words as seconds since 1970, UTC where they name no zone; NaN where one cannot be read."""
    reader = DateReader()
    found = (reader.read(str(text).strip()) for text in texts)
    return np.array([float("nan") if moment is None else moment.timestamp() for moment in found], np.float64)


def written(seconds: float) -> str:
    """A moment as ISO 8601 where it can be one, else as a number."""
    if _EPOCH_S[0] / 10 < seconds < _EPOCH_S[1]:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return f"{seconds:g}"


def _unit(values: npt.NDArray[np.float64]) -> float | None:
    low, high = float(values.min()), float(values.max())
    return next((unit for unit in _UNITS if low / unit >= _EPOCH_S[0] and high / unit <= _EPOCH_S[1]), None)


POWER = 0.8
DECILES = 10
EFFICIENCY = 0.93
"""Of the Anderson–Darling test for a shift of normal values, against a test that knows they are normal.

Source: simulation (tests/drift/test_measures.py); Scholz and Stephens (1987) find it between Wilcoxon's 0.955 and less.
"""


def shift(alpha: float, reference: int, current: int, min_effect: float = 0.0) -> float | None:
    """The smallest shift of a number, in standard deviations of normal values.

    Args:
        alpha: after the correction for many tests.
        reference: rows with a value.
        current: the same of the other side.
        min_effect: the PSI above chance that it must reach as well.

    Source: the power of a two-sided test of two means, (z₁₋α/₂ + z_power) √(1/n + 1/m), divided by √efficiency.
    """
    if not reference or not current:
        return None
    found = (_normal_quantile(1 - alpha / 2) + _normal_quantile(POWER)) * math.sqrt(
        (1 / reference + 1 / current) / EFFICIENCY
    )
    return max(found, _shift_of(_psi_needed(min_effect, reference, current, DECILES))) if min_effect else found


def mix(
    alpha: float, reference: int, current: int, categories: int, share: float, min_effect: float = 0.0
) -> tuple[float, float] | None:
    """The smallest change of one category's share, the others giving way in proportion.

    Args:
        alpha: after the correction.
        reference: rows.
        current: rows.
        categories: how many there are.
        share: of the category that changes, in both sides together.
        min_effect: as for `shift`; w² is taken for the PSI.

    Returns:
        (share points 0 … 1, the same in standard deviations of the category's indicator); None where no change could be seen.

    Source: Cohen, "Statistical Power Analysis" (1988), chapter 7: the noncentrality of χ² is w² n m / (n + m), and
    w² = δ² / (p (1 − p)).
    """
    if categories < 2 or not reference or not current or not 0 < share < 1:
        return None
    w = math.sqrt(_noncentrality(alpha, categories - 1) * (reference + current) / (reference * current))
    if min_effect:
        w = max(w, math.sqrt(_psi_needed(min_effect, reference, current, categories)))
    points = w * math.sqrt(share * (1 - share))
    return (points, w) if points <= max(share, 1 - share) else None


@cache
def _psi_needed(least: float, reference: int, current: int, bins: int) -> float:
    """The PSI of two distributions, of which samples show at least `least` above chance with `POWER`.

    Source: times n m / (n + m) the PSI of samples is about noncentral χ² with bins − 1 degrees of freedom (Yurdakul and Naranjo,
    J. Risk Model Validation 14 (2020)).
    """
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    weight, freedom = reference * current / (reference + current), bins - 1
    limit = least * weight + freedom
    high = 2 * limit + 100
    return float(brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, high)) / weight


@cache
def _shift_of(psi: float) -> float:
    """The shift of normal values, in standard deviations, that has this PSI between deciles."""
    normal, low, high = NormalDist(), 0.0, 5.0
    edges = [normal.inv_cdf(at / DECILES) for at in range(1, DECILES)]
    for _ in range(50):
        middle = (low + high) / 2
        below = [0.0, *(normal.cdf(edge - middle) for edge in edges), 1.0]
        shares = [max(1e-12, below[at + 1] - below[at]) for at in range(DECILES)]
        found = sum((share - 1 / DECILES) * math.log(share * DECILES) for share in shares)
        low, high = (middle, high) if found < psi else (low, middle)
    return high


@cache
def _noncentrality(alpha: float, freedom: int) -> float:
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    limit = chi2.isf(alpha, freedom)
    return float(brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, 10 * (limit + 100)))


def _normal_quantile(share: float) -> float:
    return NormalDist().inv_cdf(share)
