"""Which layer each operation of a traced graph belongs to, and which layers hold their tensors by name. Used in a worker.

A hook around every layer's call counts the operations made inside it; it is always taken off again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stethoscope.models.formats.keras_model.keras_activations import calls_wrapped


@dataclass
class Call:
    """One call of a layer while a function was traced."""

    path: str
    """Its path in the layer table; that of the layer around it where it has none."""
    holds: bool
    """Whether what its parts return stays referenced until it returns."""
    around: Call | None
    operations: set[str] = field(default_factory=set)
    made: tuple[str, ...] = ()
    """Tensors it returned."""


@dataclass
class Scopes:
    """The calls of one trace, in the order in which they began."""

    calls: list[Call] = field(default_factory=list)

    @functools.cached_property
    def by_operation(self) -> Mapping[str, str]:
        """The layer path of each operation: that of the innermost call that made it."""
        found: dict[str, str] = {}
        for call in self.calls:  # inner calls begin later, so they have the last word
            found.update(dict.fromkeys(call.operations, call.path))
        return found

    @functools.cached_property
    def _by_prefix(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for name, path in self.by_operation.items():
            prefix = name.rpartition("/")[0]
            if prefix:
                found.setdefault(prefix, path)
        return found

    def layer(self, operation: str) -> str:
        """The layer an operation belongs to, also after the optimiser renamed it; "" where none is known."""
        found = self.by_operation.get(operation)
        prefix = operation
        while found is None and "/" in prefix:
            prefix = prefix.rpartition("/")[0]
            found = self._by_prefix.get(prefix)
        return found or ""

    def held_until(self, positions: Mapping[str, int]) -> dict[str, int]:
        """The place in the order until which a Python name holds a tensor: the last operation of the call around its maker.

        Args:
            positions: the place of each operation in the order in which they run.
        """
        ends: dict[int, int] = {}
        for call in self.calls:
            ends[id(call)] = max((positions[name] for name in call.operations if name in positions), default=0)
        until: dict[str, int] = {}
        for call in self.calls:
            if call.around is not None and call.around.holds:
                for name in call.made:
                    until[name] = max(until.get(name, 0), ends[id(call.around)])
        return until


@contextmanager
def watched(keras: Any, paths: Mapping[int, str]) -> Iterator[Scopes]:
    """Records the calls of layers while a function is traced.

    Args:
        keras: keras or tf_keras.
        paths: layer paths by the identity of the layer.
    """
    import tensorflow as tf

    scopes = Scopes()
    open_calls: list[Call] = []
    # tf_keras drops a tensor of a functional model when its last reader has it; Keras 3 keeps all to the end of the call.
    modern = keras.__name__ == "keras"
    layer_kind = keras.layers.Layer

    def seen(self: Any, original: Any, args: Any, kwargs: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        around = open_calls[-1] if open_calls else None
        path = paths.get(id(self), around.path if around else "")
        functional = hasattr(self, "_inputs_struct") or hasattr(self, "_nested_inputs") or hasattr(self, "_functional")
        found = Call(path, modern or not functional, around)
        scopes.calls.append(found)
        open_calls.append(found)
        before = len(graph.get_operations())
        try:
            result = original(self, *args, **kwargs)
        finally:
            open_calls.pop()
        found.operations = {operation.name for operation in graph.get_operations()[before:]}
        found.made = tuple(item.name for item in tf.nest.flatten(result) if isinstance(item, tf.Tensor))
        return result

    def wrapped(kind: type, original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            # A layer is also an operation: it is seen once, by its own class's hook.
            if tf.executing_eagerly() or (kind is not layer_kind and isinstance(self, layer_kind)):
                return original(self, *args, **kwargs)
            return seen(self, original, args, kwargs)

        return call

    with calls_wrapped(keras, wrapped):
        yield scopes
