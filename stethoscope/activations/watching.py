"""Runs a model on a batch and hands back what is kept of each layer's output, by the cheapest way its format allows.

The numbers that quantised integers stand for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from stethoscope.activations.reach import base, fed_by, known_layers
from stethoscope.activations.reduced import Layout, handed_over, reduce_array
from stethoscope.architecture.activations import FLAT_ENDS
from stethoscope.architecture.endings import activation_behind
from stethoscope.data.batching import Batching
from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Observable, Reducible, Reduction
from stethoscope.models.formats import format_of
from stethoscope.models.quantisation import dequantised, said_scale
from stethoscope.types import Architecture, Feed, Layer, Refusal, Runner

Reduced = Mapping[str, Mapping[str, npt.NDArray[Any]]]
HELD_SHARE = 0.25
"""Of the job's memory that outputs may take at once where they cannot be reduced inside the runtime."""
_ONE_BY_ONE = "read one after another"
_MOST_HELD_BYTES = 256 << 20


class Watching:
    """One model, watched.

    Args:
        architecture: as described.
        runner: the opened model.
        layers: paths of the layers to watch, of those that can be seen.
        memory_bytes: of the job.
    """

    def __init__(
        self, architecture: Architecture, runner: Runner, layers: Sequence[str], memory_bytes: int, seed: int = 0
    ) -> None:
        self._architecture, self._runner, self._seed = architecture, runner, seed
        self._known: dict[str, Layer] = known_layers(architecture, runner)
        self._wanted = list(layers)
        self._batching = Batching.of(runner.inputs)
        self._held_bytes = min(_MOST_HELD_BYTES, int(HELD_SHARE * memory_bytes))
        self._reducing: Reduction | None = None
        self._places = 0
        self._found: dict[int, Mapping[str, Any]] = {}
        """What was read in this call, by its place in the graph."""
        self.way = "reduced inside the runtime" if isinstance(runner.can(Reducible), Reducible) else "read in parts"
        """How the outputs were come by, for the answer."""

    @property
    def hidden(self) -> Mapping[str, str]:
        """Why outputs of layers that were called cannot be read."""
        return {} if self._reducing is None else dict(self._reducing.hidden)

    def reduce(self, feed: Feed) -> Reduced:
        """What is kept of each layer's output on `feed`, by the outputs' keys, in execution order.

        Raises:
            BadInput: the feed does not fit.
            CannotRun: the model cannot be run.
        """
        return {**self._inputs(feed), **self._layers(feed)}

    def _layers(self, feed: Feed) -> Reduced:
        reducible, observable = self._runner.can(Reducible), self._runner.can(Observable)
        if isinstance(reducible, Reducible) and self.way != _ONE_BY_ONE:
            try:
                return self._in_graph(reducible, feed)
            except CannotRun:
                if isinstance(observable, Refusal):
                    raise
                self.way = _ONE_BY_ONE
        if isinstance(observable, Observable):
            return self._one_by_one(observable, feed)
        return dict(self._in_parts(feed))

    def _inputs(self, feed: Feed) -> Reduced:
        """The inputs that are shown as layers, as they are fed."""
        rows = self._batching.rows(feed)
        found: dict[str, Mapping[str, Any]] = {}
        for path in self._wanted:
            if name := fed_by(self._known[path], feed):
                reduced = reduce_array(feed[name], self.layout(path, feed[name].ndim), rows, self._seed)
                if reduced is not None:
                    found[path] = reduced
        return found

    def layout(self, key: str, rank: int | None) -> Layout:
        """How the output of this key is read."""
        path = base(key, self._known)
        layer = self._known.get(path)
        low, high = FLAT_ENDS.get(activation_behind(layer, first=key == path), (None, None))
        return Layout(1 if self._channels_first(layer, rank) else -1, low, high)

    def activation(self, key: str) -> str:
        """The activation that made the output of this key; "" where none did directly."""
        path = base(key, self._known)
        return activation_behind(self._known.get(path), first=key == path)

    def kind(self, key: str) -> str:
        """The type of the layer behind a key."""
        layer = self._known.get(base(key, self._known))
        return layer.type if layer else ""

    def _channels_first(self, layer: Layer | None, rank: int | None) -> bool:
        if layer is None or rank is None or rank < 3:
            return False
        said = layer.config.get("data_format")
        if said in ("channels_first", "NCHW", b"NCHW"):
            return True
        # ONNX puts channels first; of rank 3 only convolutions and what keeps their layout do.
        return format_of(self._architecture).channels_first and (
            rank > 3 or "Conv" in layer.type or "Pool" in layer.type
        )

    def _in_graph(self, runner: Reducible, feed: Feed) -> Reduced:
        if self._reducing is None:
            self._reducing = runner.reducing(self._read, self._wanted)
        self._found.clear()
        places = {key: int(parts["place"]) for key, parts in self._reducing.call(feed).items()}
        return {key: self._found[place] for key, place in places.items() if place in self._found}

    def _read(self, key: str, tensor: Any, inputs: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Reads the layer's output where it lies, while the graph runs."""
        import tensorflow as tf

        named = [inputs[name] for name in sorted(self._batching.names) if name in inputs]
        rows = tf.shape(named[0])[0] if named else tf.constant(1)

        self._places += 1
        own = self._places

        def take(values: npt.NDArray[Any], count: int) -> int:
            reduced = reduce_array(values, self.layout(key, values.ndim), count, self._seed)
            if reduced is not None:
                self._found[own] = reduced
            return own

        # Layers that hand on what they were given have the place of its first maker.
        place = handed_over(tensor, rows, take)
        return None if place is None else {"place": place}

    def _one_by_one(self, runner: Observable, feed: Feed) -> Reduced:
        found: dict[str, Mapping[str, Any]] = {}
        rows, wanted = self._batching.rows(feed), set(self._wanted)

        def visit(key: str, array: npt.NDArray[Any]) -> None:
            if base(key, self._known) in wanted:
                reduced = reduce_array(array, self.layout(key, array.ndim), rows, self._seed)
                if reduced is not None:
                    found[key] = reduced

        runner.observe(feed, visit)
        return found

    def _in_parts(self, feed: Feed) -> Iterator[tuple[str, Mapping[str, Any]]]:
        rows = self._batching.rows(feed)
        for group in self._groups(rows):
            for key, array in self._runner.activations(feed, group).items():
                real = real_values(array, self._known.get(key))
                reduced = reduce_array(real, self.layout(key, array.ndim), rows, self._seed)
                if reduced is not None:
                    yield key, reduced

    def _groups(self, rows: int) -> Iterator[list[str]]:
        """The layers in groups whose outputs fit into memory together."""
        group: list[str] = []
        held = 0
        for path in self._wanted:
            need = output_bytes(self._known[path], rows)
            if group and held + need > self._held_bytes:
                yield group
                group, held = [], 0
            group.append(path)
            held += need
        if group:
            yield group


def output_bytes(layer: Layer, rows: int, open_size: int = 64) -> int:
    """Bytes of a layer's output for so many rows, as float32; open sizes beyond the rows count as `open_size`."""
    if not layer.output_shape:
        return 4 * rows
    return 4 * (layer.output_shape[0] or rows) * math.prod(size or open_size for size in layer.output_shape[1:])


def real_values(array: npt.NDArray[Any], layer: Layer | None) -> npt.NDArray[Any]:
    """The real numbers that a layer's output stands for (float32) where it is quantised with one scale; else the array itself."""
    scale = None if layer is None else said_scale(layer.config.get("output_quantization"))
    return array if scale is None else dequantised({"": array}, {"": scale})[""]
