"""Recurrent layers written out step by step, for targets whose tools cannot follow a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stethoscope.compare.convert.converter import Source
from stethoscope.compare.convert.origins import Origins
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Refusal, Runner

_LOOPS = ("While", "StatelessWhile")


@contextmanager
def unrolled(source: Source) -> Iterator[list[str]]:
    """While open, a trace of a Keras model has the steps of its recurrent layers one after another; yields their names.

    Layers whose number of steps is open stay as they are: Keras cannot write them out. Other formats have no layers to ask.
    """
    layers = [layer for layer in _layers(source.runner) if getattr(layer, "unroll", None) is False and _steps(layer)]
    # tf_keras has a second way, with a loop in it, that it prefers where this says that a GPU could take it.
    before = [
        {name: getattr(layer, name) for name in ("unroll", "_could_use_gpu_kernel") if hasattr(layer, name)}
        for layer in layers
    ]
    try:
        for layer, had in zip(layers, before, strict=True):
            for name in had:
                setattr(layer, name, name == "unroll")
        yield [layer.name for layer in layers]
    finally:
        for layer, had in zip(layers, before, strict=True):
            for name, value in had.items():
                setattr(layer, name, value)


def loop_of(traced: TracedModel, source: Source) -> tuple[str, str] | None:
    """(operator, layer) of a loop in the traced function; None where there is none."""
    definition = traced.function.graph.as_graph_def()
    for nodes in (definition.node, *(body.node_def for body in definition.library.function)):
        for node in nodes:
            if node.op in _LOOPS:
                return node.op, Origins(source.architecture).layer(node.name)
    return None


def _layers(runner: Runner) -> list[Any]:
    live = runner.can(LiveModel)
    return [] if isinstance(live, Refusal) else list(live.model._flatten_layers())


def _steps(layer: Any) -> int | None:
    """The number of steps that a recurrent layer was built for; None where it is open."""
    ways: tuple[Callable[[], Any], ...] = (
        lambda: layer.input.shape,
        lambda: layer._build_shapes_dict["sequences_shape"],
        lambda: layer._build_input_shape,
    )
    for way in ways:
        try:
            shape = tuple(way())
        except (AttributeError, ValueError, KeyError, TypeError, IndexError):
            continue
        if len(shape) > 1 and isinstance(shape[1], int):
            return shape[1]
    return None
