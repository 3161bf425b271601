"""Which formats a target cannot be made from, and why."""

from __future__ import annotations

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture


def not_traceable(architecture: Architecture, title: str) -> str:
    """Why TensorFlow cannot trace a model of this format; "" where it can."""
    reason = format_of(architecture).one_way
    if not reason:
        return ""
    return f"{reason}: {title} cannot be made from it. Convert the model that it was made from."
