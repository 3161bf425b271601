"""Attention scores of a live Keras model: every softmax that runs inside a layer, seen by TensorFlow's own callback. Worker only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.models.formats.keras_model.keras_activations import layer_paths

Scores = dict[str, list[npt.NDArray[Any]]]


def attention_scores(keras: Any, model: Any, wanted: Collection[str], call: Callable[[], Any]) -> Scores:
    """Returns for each of the wanted layers the softmaxes over pairs of positions that ran inside it, in order.

    Layers of the user's own and Keras' alike; a softmax that is itself the layer's output (the classes of a head) is none.

    Args:
        keras: the package the model is of.
        model: the live model.
        wanted: layer paths.
        call: runs the model once, eagerly.

    Returns:
        By path, arrays of shape (rows, queries, keys) or (rows, heads, queries, keys).
    """
    from tensorflow.python.framework import op_callbacks

    paths = layer_paths(keras, model)
    chosen = {key: path for key, path in paths.items() if path in set(wanted)}
    stack: list[str] = []
    seen: dict[str, list[Any]] = {}
    found: Scores = {}

    def ran(kind: Any, _inputs: Any, _attributes: Any, outputs: Any, *_names: Any, **_graph: Any) -> None:
        if stack and kind in (b"Softmax", "Softmax") and outputs and hasattr(outputs[0], "numpy"):
            seen.setdefault(stack[-1], []).append(outputs[0])

    with _entered(keras, chosen, stack, lambda path, result: _finish(path, result, seen, found)):
        op_callbacks.add_op_callback(ran)
        try:
            call()
        finally:
            op_callbacks.remove_op_callback(ran)
    return found


def _finish(path: str, result: Any, seen: dict[str, list[Any]], found: Scores) -> None:
    shape = tuple(getattr(result, "shape", ()) or ())
    for tensor in seen.pop(path, []):
        array = np.asarray(tensor.numpy())
        pairs = array.ndim in (3, 4) and array.shape[-1] > 1
        own = array.shape == shape and np.array_equal(array, np.asarray(result.numpy()))
        if pairs and not own:
            found.setdefault(path, []).append(array.astype(np.float32))


@contextmanager
def _entered(
    keras: Any, chosen: Mapping[int, str], stack: list[str], returned: Callable[[str, Any], None]
) -> Iterator[None]:
    """While it lasts, `stack` holds the paths of the chosen layers that are being called; `returned` hears when one is done."""
    kind = keras.layers.Layer
    original = kind.__dict__["__call__"]

    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        path = chosen.get(id(layer))
        if path is None:
            return original(layer, *args, **kwargs)
        stack.append(path)
        try:
            result = original(layer, *args, **kwargs)
        finally:
            stack.pop()
        returned(path, result)
        return result

    kind.__call__ = call
    try:
        yield
    finally:
        kind.__call__ = original
