"""A traced model as a SavedModel folder."""

from __future__ import annotations

from pathlib import Path

from stethoscope.compare.convert.converter import CannotConvert
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.framework_errors import gist


def save_traced(traced: TracedModel, folder: Path, name: str) -> None:
    """Writes a SavedModel with one signature, "serving_default".

    Args:
        traced: the model.
        folder: made here.
        name: of the model, for the error.

    Raises:
        CannotConvert: TensorFlow cannot save it.
    """
    import tensorflow as tf

    holder = tf.Module()
    holder.model = traced.trackable
    # What Keras does not track by itself, like the state of a random generator inside a layer.
    holder.read = list(traced.function.graph.variables)
    try:
        tf.saved_model.save(holder, str(folder), signatures={"serving_default": traced.function})
    except (ValueError, TypeError, AssertionError, KeyError, RuntimeError, tf.errors.OpError) as error:
        raise CannotConvert(f"{name}: TensorFlow cannot save it: {gist(error)}.") from error
