"""Every layer's output of one eager call, and attention scores inside, by hooks that are always taken off. Worker only.

Works for functional, nested, shared and subclassed models alike, because it sees calls and not the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput
from stethoscope.types import ModelFile


def layer_outputs(
    file: ModelFile, keras: Any, model: Any, wanted: Sequence[str] | None, call: Callable[[], Any]
) -> dict[str, Any]:
    """Returns eager tensors by layer path, in execution order: "path", "path#2" for a second call, "path:1" for a second output.

    Args: see `visit_outputs`.

    Raises:
        BadInput: no layer has one of the wanted paths.
    """
    outputs: dict[str, Any] = {}
    visit_outputs(file, keras, model, wanted, call, outputs.__setitem__)
    return outputs


def visit_outputs(
    file: ModelFile,
    keras: Any,
    model: Any,
    wanted: Sequence[str] | None,
    call: Callable[[], Any],
    visit: Callable[[str, Any], None],
) -> None:
    """Shows each layer's eager output tensors as they are made, in execution order; keeps none of them.

    Args:
        file: for error sentences.
        keras: the package the model is of.
        model: the live model.
        wanted: paths to show; None for all. "path" stands for all its calls, "path#2" for the second one only.
        call: runs the model once, eagerly.
        visit: called with the key of `layer_outputs` and the tensor.

    Raises:
        BadInput: no layer has one of the wanted paths.
    """
    paths = layer_paths(keras, model)
    known = set(paths.values())
    for name in wanted or ():
        if name.split("#")[0].split(":")[0] not in known:
            raise BadInput(f"{file.name}: has no layer {name!r}. Choose one from the layer table.")
    chosen = None if wanted is None else set(wanted)
    calls: dict[str, int] = {}

    def saw(layer: Any, result: Any) -> None:
        path = paths.get(id(layer))
        if path is None:
            return
        count = calls.get(path, 0) + 1
        calls[path] = count
        if chosen is not None and path not in chosen and f"{path}#{count}" not in chosen:
            return
        key = path if count == 1 else f"{path}#{count}"
        for index, tensor in enumerate(_tensors(result)):
            visit(key if index == 0 else f"{key}:{index}", tensor)

    with hooked(keras, saw):
        call()


def layer_paths(keras: Any, model: Any) -> dict[int, str]:
    """Paths of a live model's layers by identity, joined as in the layer table; insides of Keras' own layers are left out."""
    paths: dict[int, str] = {}
    graphs: set[int] = set()
    waiting: list[tuple[Any, str]] = [(model, "")]
    while waiting:
        holder, prefix = waiting.pop()
        for layer in _parts(holder):
            if id(layer) in paths or layer is holder:
                continue
            paths[id(layer)] = path = f"{prefix}{layer.name}"
            if (
                isinstance(layer, keras.Sequential)
                or hasattr(layer, "_inputs_struct")
                or hasattr(layer, "_nested_inputs")
            ):
                graphs.add(id(layer))
            if _is_open(keras, layer):
                waiting.append((layer, path + "/"))
    # The layer table shows a nested graph as its layers, without a row of its own.
    return {key: path for key, path in paths.items() if key not in graphs}


def _parts(holder: Any) -> list[Any]:
    operations = getattr(holder, "operations", None)
    if operations:
        return list(operations)
    try:
        return list(holder.layers)
    except (AttributeError, ValueError):
        return list(getattr(holder, "_layers", None) or _flattened(holder))


def _flattened(holder: Any) -> list[Any]:
    flatten = getattr(holder, "_flatten_layers", None)
    return list(flatten(recursive=False, include_self=False)) if flatten else []


def _is_open(keras: Any, layer: Any) -> bool:
    """Models, and layers that are not Keras' own, are looked into."""
    return isinstance(layer, keras.Model) or not type(layer).__module__.startswith(("keras.", "tf_keras."))


def _tensors(result: Any, depth: int = 0) -> list[Any]:
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple) and depth < 8:
        return [tensor for item in result for tensor in _tensors(item, depth + 1)]
    # Tensors inside a traced function have no values.
    return [result] if hasattr(result, "numpy") or hasattr(result, "to_tensor") else []


@contextmanager
def calls_wrapped(keras: Any, wrapped: Callable[[type, Any], Any]) -> Iterator[None]:
    """While it lasts, every layer and operation is called through `wrapped(kind, original)`, of its class and that one's own call."""
    kinds = [keras.layers.Layer, *([keras.Operation] if hasattr(keras, "Operation") else [])]
    originals = [(kind, kind.__dict__["__call__"]) for kind in kinds if "__call__" in kind.__dict__]
    try:
        for kind, original in originals:
            kind.__call__ = wrapped(kind, original)
        yield
    finally:
        for kind, original in originals:
            kind.__call__ = original


@contextmanager
def hooked(keras: Any, saw: Callable[[Any, Any], None]) -> Iterator[None]:
    """Calls `saw(layer, result)` after every layer's call, inside a traced function too."""
    layer_kind = keras.layers.Layer

    def wrapped(kind: type, original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            # A layer is also an operation: it is seen once, by its own class's hook.
            if kind is layer_kind or not isinstance(self, layer_kind):
                saw(self, result)
            return result

        return call

    with calls_wrapped(keras, wrapped):
        yield


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
