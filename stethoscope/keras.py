"""For training programs: what is recorded while they train, to find out how a training went wrong.

`Recorder` is a Keras callback; `EventWriter` is for loops of one's own. Importing this module imports no framework; taking
`Recorder` from it imports Keras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stethoscope.training.recording.event_writer import EventWriter

if TYPE_CHECKING:
    from stethoscope.training.recording.recorder import Recorder

__all__ = ["EventWriter", "Recorder"]


def __getattr__(name: str) -> Any:
    if name != "Recorder":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stethoscope.training.recording.recorder import callback_class

    globals()["Recorder"] = made = callback_class()
    return made
