"""Checks a feed against a model's inputs before a runtime sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput, CannotRun
from stethoscope.types import Feed, Shape, TensorSpec


def checked(feed: Feed, inputs: Sequence[TensorSpec], model: str) -> Feed:
    """Returns `feed` in the inputs' own dtypes and order.

    Values are converted where nothing but precision is lost (float64 → float32, int64 → int32 within range, uint8 → float32).

    Raises:
        BadInput: a name, shape or dtype does not fit.
    """
    names = [spec.name for spec in inputs]
    if set(feed) != set(names):
        raise BadInput(
            f"Inputs of {model}: expected {_listed(names)}, got {_listed(feed)}. Give one array for each name."
        )
    return {spec.name: _array(feed[spec.name], spec, model) for spec in inputs}


def numpy_dtype(name: str) -> np.dtype[Any] | None:
    """Returns numpy's dtype for a `TensorSpec.dtype`; None for strings and for what numpy cannot hold."""
    try:
        return np.dtype(name) if name and name != "string" else None
    except TypeError:
        pass
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    except (ImportError, AttributeError, TypeError):
        return None


def shown(shape: Shape | None) -> str:
    """A shape for people: "(None, 224, 224, 3)", or "any shape"."""
    return "any shape" if shape is None else str(tuple(shape))


def _array(value: npt.ArrayLike, spec: TensorSpec, model: str) -> npt.NDArray[Any]:
    array = np.asarray(value)
    subject = f"Input {spec.name!r} of {model}"
    if spec.shape is not None and not _fits(array.shape, spec.shape):
        raise BadInput(
            f"{subject}: expected {shown(spec.shape)}, got {array.shape}. {_advice(array.shape, spec.shape)}"
        )
    if spec.dtype == "string":
        if array.dtype.kind not in "OSU":
            raise BadInput(f"{subject}: expected strings, got {array.dtype}. Give an array of text.")
        return array
    wanted = numpy_dtype(spec.dtype)
    if wanted is None:
        raise CannotRun(
            f"{subject}: expected {spec.dtype or 'an unknown type'}, which cannot be fed as an array. Run it in its own runtime."
        )
    if array.dtype == wanted:
        return array
    if array.dtype.kind in "OSU" or not _may_convert(array, wanted):
        quantised = (
            " Quantise the values first (value / scale + zero_point)."
            if wanted.kind in "iu" and array.dtype.kind == "f"
            else ""
        )
        raise BadInput(
            f"{subject}: expected {spec.dtype}, got {array.dtype}.{quantised or f' Convert it to {spec.dtype}.'}"
        )
    return array.astype(wanted)


def _may_convert(array: npt.NDArray[Any], wanted: np.dtype[Any]) -> bool:
    if array.dtype.kind in "iub" and wanted.kind in "iu":
        bounds = np.iinfo(wanted)
        return array.size == 0 or (int(array.min()) >= bounds.min and int(array.max()) <= bounds.max)
    return array.dtype.kind in "fiub" and (wanted.kind == "f" or wanted.name in ("bfloat16", "complex64", "complex128"))


def _fits(shape: tuple[int, ...], expected: Shape) -> bool:
    return len(shape) == len(expected) and all(want in (None, got) for got, want in zip(shape, expected, strict=True))


def _advice(shape: tuple[int, ...], expected: Shape) -> str:
    if len(shape) == 4 == len(expected):
        moved = (shape[0], shape[2], shape[3], shape[1])
        if _fits(moved, expected):
            return "Transpose to channels-last."
        if _fits((shape[0], shape[3], shape[1], shape[2]), expected):
            return "Transpose to channels-first."
    if len(shape) == len(expected) - 1 and _fits((1, *shape), expected):
        return "Add a leading batch dimension."
    if (
        len(shape) == len(expected)
        and expected
        and expected[0] is not None
        and _fits((expected[0], *shape[1:]), expected)
    ):
        return f"Its batch size is fixed at {expected[0]}."
    return "Reshape the data."


def _listed(names: Sequence[str] | Feed) -> str:
    return ", ".join(repr(name) for name in names) or "nothing"
