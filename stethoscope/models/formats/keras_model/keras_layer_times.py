"""How long each layer of a live Keras model takes in an eager call, without the layers inside it. Worker only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stethoscope.models.formats.keras_model.keras_activations import layer_paths


def layer_times(keras: Any, model: Any, call: Callable[[], Any]) -> dict[str, float]:
    """Seconds by layer path, summed over its calls, of the second of two eager calls (the first one warms up).

    On an accelerator, work that is only handed over is not waited for: the times are those of handing it over.

    Args:
        keras: the package the model is of.
        model: the live model.
        call: runs the model once, eagerly.
    """
    paths = layer_paths(keras, model)
    call()
    seconds: dict[str, float] = {}
    with _timed(keras, paths, seconds):
        call()
    return seconds


@contextmanager
def _timed(keras: Any, paths: dict[int, str], seconds: dict[str, float]) -> Iterator[None]:
    kinds = [keras.layers.Layer, *([keras.Operation] if hasattr(keras, "Operation") else [])]
    originals = [(kind, kind.__dict__["__call__"]) for kind in kinds if "__call__" in kind.__dict__]
    inside: list[float] = []
    """For each layer being called, the seconds of the known layers inside it so far."""

    def wrapped(original: Any) -> Any:
        def called(layer: Any, *args: Any, **kwargs: Any) -> Any:
            path = paths.get(id(layer))
            if path is None:
                return original(layer, *args, **kwargs)
            inside.append(0.0)
            start = time.perf_counter()
            try:
                return original(layer, *args, **kwargs)
            finally:
                spent = time.perf_counter() - start
                own = spent - inside.pop()
                seconds[path] = seconds.get(path, 0.0) + max(0.0, own)
                if inside:
                    inside[-1] += spent

        return called

    try:
        for kind, original in originals:
            kind.__call__ = wrapped(original)
        yield
    finally:
        for kind, original in originals:
            kind.__call__ = original
