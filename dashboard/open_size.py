"""The size of what a model leaves open besides the batch: the field for it, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.delta_generator import DeltaGenerator

from dashboard import words
from stethoscope.architecture.open_sizes import TRIED, OpenSize, Source, is_image, open_axes, sizes_of_file
from stethoscope.types import Architecture

_WHENCE: dict[Source, str] = {"given": "as asked", "data": "of the data", "file": "of the file", "assumed": "assumed"}


def _is_image(architecture: Architecture) -> bool:
    return any(is_image(spec) for spec, _ in open_axes(architecture.inputs))


def usual(architecture: Architecture) -> tuple[int, Source]:
    """The size that is taken where nobody says one, and who says it."""
    stated = sizes_of_file(architecture.layers)
    size = (stated.image_size[0] if stated.image_size else None) if _is_image(architecture) else stated.sequence_length
    return (TRIED[0], "assumed") if size is None else (size, "file")


def unsaid(architecture: Architecture) -> str:
    """What is taken where nobody says a size, in words."""
    size, source = usual(architecture)
    return f"{words.count(size)}, {'as the file says' if source == 'file' else 'an assumption'}."


def field(cell: DeltaGenerator, architecture: Architecture, *, disabled: bool) -> int | None:
    """The field for random input; None where it is left as it is. Call it where something is open."""
    size, source = usual(architecture)
    chosen = int(
        cell.number_input(
            "Image size" if _is_image(architecture) else "Length",
            1,
            1 << 20,
            size,
            key="open-size",
            bind="query-params",
            disabled=disabled,
            help=f"This model leaves it open; {words.count(size)} is {_WHENCE[source]}. Data of your own has its own.",
        )
    )
    return None if disabled or chosen == size else chosen


def said(sizes: Sequence[OpenSize]) -> str:
    """The largest size and who says it: "length 512 (of the file)"; "" where nothing is open."""
    if not sizes:
        return ""
    largest = max(sizes, key=lambda item: item.size)
    return f"length {words.count(largest.size)} ({_WHENCE[largest.source]})"
