"""Random rows that every model of a comparison can hold: integers cut off what lies beyond their range, which is no fault of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from stethoscope.compare.parity.comparison_jobs import AGAINST
from stethoscope.compare.parity.opening import described
from stethoscope.compare.parity.output_pairs import pair_inputs
from stethoscope.models.formats import format_of
from stethoscope.models.formats.tflite_model.quantised_ends import dequantised
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, ModelFile, TensorSpec

_BEYOND = 0.01
"""Share of random values beyond a range from which they are drawn inside of it."""


def within_ranges(context: TaskContext, architecture: Architecture, feed: Feed, seed: int) -> tuple[Feed, list[str]]:
    """Random rows with inputs drawn evenly from what all models can hold, where much of them would lie beyond; and what was done.

    Args:
        context: files in the roles "against-…" are the models that the first is compared with; none in the role "other".
        architecture: of the first.
        feed: random rows, by the first model's names.
        seed: of the rows.

    Returns:
        (the rows, sentences on the inputs drawn anew).
    """
    narrowest: dict[str, tuple[float, float]] = {}
    for name, (low, high) in _ranges(context, architecture, architecture.inputs):
        before = narrowest.get(name, (-np.inf, np.inf))
        narrowest[name] = max(low, before[0]), min(high, before[1])
    # Random integers of a first model that is quantised, as the real numbers that they stand for: the others take those.
    scales = format_of(architecture).ends(context.files["model"]).inputs
    found, notes = dequantised(feed, scales), list[str]()
    for place, (name, array) in enumerate(found.items()):
        low, high = narrowest.get(name, (-np.inf, np.inf))
        if array.dtype.kind != "f" or not low < high or np.mean((array < low) | (array > high)) <= _BEYOND:
            continue
        random = np.random.default_rng([seed, place])
        found[name] = random.uniform(low, high, array.shape).astype(array.dtype)
        notes.append(
            f"Random values of input {name!r} lie between {low:.3g} and {high:.3g}: that is what integers hold."
        )
    return found, notes


def _ranges(
    context: TaskContext, architecture: Architecture, inputs: Sequence[TensorSpec]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """(the first model's input, its range in one of the models)."""
    yield from format_of(architecture).ends(context.files["model"]).ranges.items()
    for role, file in context.files.items():
        if role == "other" or role.startswith(AGAINST):
            yield from _of_another(file, inputs)


def _of_another(file: ModelFile, inputs: Sequence[TensorSpec]) -> Iterator[tuple[str, tuple[float, float]]]:
    there = described(file)
    held = format_of(there).ends(file).ranges
    for name, original in pair_inputs(inputs, there.inputs).items() if held else ():
        if name in held:
            yield original, held[name]
