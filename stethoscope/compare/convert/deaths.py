"""What to do after a conversion whose process ended without an answer."""

from __future__ import annotations

from stethoscope.types import Status

_ADVICE = {
    Status.CRASHED: (
        "Convert it once more. If it ends the same way, fix the number of rows (batch size 1) or choose another target: some operators "
        "end the converter's whole process."
    ),
    Status.TIMED_OUT: "Give it more time, or fewer rows for the ranges.",
}


def what_to_do(status: Status) -> str:
    """A sentence; "" where the ending itself says it."""
    return _ADVICE.get(status, "")
