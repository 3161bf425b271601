"""Occlusion: cover a part of the input, and see what it costs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import (
    Attribution,
    InputKind,
    Question,
    Report,
    Subject,
    score_variants,
)
from stethoscope.errors import BadSetting

MOST_VARIANTS = 4_096
_PATCHES_PER_SIDE = 12
_WINDOWS = 32


class Occlusion:
    """score − score with one part replaced by the baseline; where parts overlap, the mean of those that cover a place.

    Parts are squares over all channels of an image, windows of time over all channels, single features, single tokens.
    """

    id = "occlusion"
    title = "Occlusion"
    place = 40
    about = "What the score loses when a part is covered. Needs no gradients: works for every format."
    source = "Zeiler and Fergus, Visualizing and Understanding Convolutional Networks (2013), arXiv:1311.2901"
    needs_gradients = False
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`; options "patch" (side, in pixels, steps, features or tokens) and "stride"."""
        row, cover = np.asarray(question.row[0]), np.asarray(question.baseline[0])
        sizes, axes = _extent(row.shape, question)
        patch, stride, notes = _grid(sizes, question)
        starts = [_starts(size, part, step) for size, part, step in zip(sizes, patch, stride, strict=True)]
        windows = list(itertools.product(*starts))

        def variants() -> Iterator[npt.NDArray[Any]]:
            yield row
            whole = np.where(np.ones(row.shape, bool), cover, row)
            yield whole
            for corner in windows:
                made = row.copy()
                place = _slices(row.ndim, axes, corner, patch)
                made[place] = cover[place]
                yield made

        scores = score_variants(subject, question, variants(), len(windows) + 2, report)
        total, covered = np.zeros(sizes, np.float64), np.zeros(sizes, np.float64)
        for corner, score in zip(windows, scores[2:], strict=True):
            place = tuple(slice(start, start + part) for start, part in zip(corner, patch, strict=True))
            total[place] += scores[0] - score
            covered[place] += 1
        return Attribution(
            np.where(covered > 0, total / np.maximum(covered, 1), 0.0),
            float(scores[0]),
            float(scores[1]),
            steps=len(windows),
            notes=tuple(notes),
        )


def _extent(shape: Sequence[int], question: Question) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and axes along which parts are covered: not those of channels."""
    axes = tuple(axis for axis in range(len(shape)) if axis != question.channel_axis)
    return tuple(shape[axis] for axis in axes), axes


def _grid(sizes: Sequence[int], question: Question) -> tuple[tuple[int, ...], tuple[int, ...], list[str]]:
    asked = int(question.options.get("patch") or 0)
    if asked < 0 or int(question.options.get("stride") or 0) < 0:
        raise BadSetting("Occlusion: expected a patch and a stride above 0. Change the settings.")
    if question.kind == "image":
        patch = tuple(min(size, asked or max(1, round(size / _PATCHES_PER_SIDE))) for size in sizes)
    elif question.kind == "sequence":
        patch = tuple(min(size, asked or max(1, round(size / _WINDOWS))) for size in sizes)
    else:
        patch = tuple(min(size, asked or 1) for size in sizes)
    halved = question.kind in ("image", "sequence") and not question.options.get("stride")
    stride = [max(1, part // 2) if halved else int(question.options.get("stride") or part) for part in patch]
    notes = []
    while _count(sizes, patch, stride) > MOST_VARIANTS:
        stride = [step + 1 for step in stride]
        patch = tuple(max(part, step) for part, step in zip(patch, stride, strict=True))
        notes = [
            f"Parts are {' × '.join(map(str, patch))}, every {' × '.join(map(str, stride))}: "
            f"at most {MOST_VARIANTS:,} variants are run."
        ]
    return patch, tuple(stride), notes


def _count(sizes: Sequence[int], patch: Sequence[int], stride: Sequence[int]) -> int:
    total = 1
    for size, part, step in zip(sizes, patch, stride, strict=True):
        total *= len(_starts(size, part, step))
    return total


def _starts(size: int, part: int, step: int) -> list[int]:
    """Where parts begin, the last one at the end."""
    last = max(0, size - part)
    return [*range(0, last, step), last]


def _slices(rank: int, axes: Sequence[int], corner: Sequence[int], patch: Sequence[int]) -> tuple[slice, ...]:
    found = [slice(None)] * rank
    for axis, start, part in zip(axes, corner, patch, strict=True):
        found[axis] = slice(start, start + part)
    return tuple(found)


METHOD = Occlusion()
