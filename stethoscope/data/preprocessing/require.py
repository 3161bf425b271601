"""What a step asks of an array before it changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stethoscope.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt


def numbers(rows: npt.NDArray[Any], advice: str = "Turn labels of text into numbers with To class numbers.") -> None:
    """Raises BadInput for text, dates and the like."""
    if rows.dtype.kind not in "biuf":
        raise BadInput(f"expected numbers, got {described(rows)}. {advice}")


def rank(rows: npt.NDArray[Any], ranks: tuple[int, ...], what: str) -> None:
    """Raises BadInput unless an array (rows included) has one of `ranks` dimensions."""
    if rows.ndim not in ranks:
        raise BadInput(f"expected {what}, got {described(rows)}. Remove the step or choose another array.")


def channels(rows: npt.NDArray[Any], axis: int, allowed: tuple[int, ...]) -> None:
    """Raises BadInput unless `axis` has one of the `allowed` sizes."""
    sizes = " or ".join(str(size) for size in allowed)
    if not -rows.ndim <= axis < rows.ndim or axis % rows.ndim == 0 or rows.shape[axis] not in allowed:
        raise BadInput(f"expected {sizes} channels in axis {axis}, got {described(rows)}. Choose another axis.")


def described(rows: npt.NDArray[Any]) -> str:
    """An array in words: the shape of a row and the dtype."""
    kind = "text" if rows.dtype.kind in "US" else str(rows.dtype)
    return f"rows of shape {rows.shape[1:]} of {kind}" if rows.ndim else f"one value of {kind}"
