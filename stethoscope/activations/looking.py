"""The job behind the task `look`: chosen layers on chosen samples, as bounded arrays.

The output of one layer for feeds, as the tasks that study a single layer need it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.looks import LookKind, attention_layers, attention_of, look_at
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reach import NO_VALUE, UnseenLayer, base, fed_by, known_layers, reachable
from stethoscope.activations.reduced import Layout
from stethoscope.activations.study import wanted_layers
from stethoscope.activations.watching import Watching, output_bytes, real_values
from stethoscope.errors import BadSetting
from stethoscope.models.capabilities import Attentive
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

MOST_LAYERS = 12
MOST_PLACES = 8
MOST_BYTES = 64 << 20
_OPEN_SIZE = 128
"""What an open dimension is taken for."""


@dataclass(frozen=True)
class LayerLook:
    """One output of a layer for one row, without the rows' dimension."""

    layer: str
    output: str
    """The layer's path, with "#2" for its second call and ":1" for its second output."""
    place: int
    shape: tuple[int, ...]
    """As the layer gives it; what was kept may be thinned."""
    turn: int = 0
    """Which attention of the layer."""
    file: str | None = None
    """.npy of float32 in the job's outputs; None where nothing could be kept, for the reason in `note`."""
    kind: LookKind = "array"
    axes: tuple[str, ...] = ()
    note: str = ""
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    """Of all finite values."""
    nonfinite: int = 0
    channels: tuple[int, ...] = ()
    """Which of the layer's are kept, where some were left out."""


@dataclass(frozen=True)
class RowName:
    """What a row of the data is called; hostile text."""

    place: int
    name: str
    label: str


@dataclass(frozen=True)
class LookSettings:
    """What was asked for."""

    layers: tuple[str, ...]
    places: tuple[int, ...]
    seed: int


@dataclass(frozen=True)
class LayerLooks:
    """What chosen layers put out for chosen rows."""

    looks: tuple[LayerLook, ...]
    samples: tuple[RowName, ...]
    source: str
    rows_in_data: int
    unreachable: tuple[UnseenLayer, ...]
    settings: LookSettings


class Looking:
    """One job: the params "layers", "also", "places", "seed" of the task."""

    def __init__(self, context: TaskContext, architecture: Architecture, runner: Runner) -> None:
        params = context.params
        self._context, self._architecture, self._runner = context, architecture, runner
        self._seed = int(params.get("seed") or 0)
        self._places = [int(place) for place in params.get("places") or [0]]
        asked = list(params.get("layers") or ())
        if not 0 < len(asked) <= MOST_LAYERS or len(self._places) > MOST_PLACES:
            raise BadSetting(
                f"Look: expected 1 to {MOST_LAYERS} layers and at most {MOST_PLACES} samples, got {len(asked)} and "
                f"{len(self._places)}. Choose fewer."
            )
        self._expected = reachable(architecture, runner)
        self._layers = wanted_layers(architecture, self._expected, asked, context.files["model"].name)
        self._known = known_layers(architecture, runner)
        self._also = [path for path in dict.fromkeys(map(str, params.get("also") or ())) if self._is_light(path)]
        self._unseen = [str(path) for path in asked if self._expected.get(base(str(path), self._expected))]
        self._watching = Watching(
            architecture, runner, [*self._layers, *self._also], context.budget.memory_bytes, self._seed
        )
        self._left_bytes = MOST_BYTES
        self._seen: set[str] = set()
        self._looks: list[LayerLook] = []

    def run(self) -> LayerLooks:
        """Runs the model on the samples and returns the answer of the task."""
        dummy = max(MOST_PLACES, max(self._places) + 1)
        with ModelRows(self._context, self._architecture, self._runner, dummy_rows=dummy, seed=self._seed) as given:
            looked: list[int] = []
            for places, feed in given.calls(self._places):
                self._context.report("activations", len(looked) / len(self._places), f"{len(self._places)} sample(s)")
                self._look_at(places.tolist(), feed, given.batching.rows(feed))
                looked += places.tolist()
            return LayerLooks(
                looks=tuple(self._looks),
                samples=tuple(RowName(**name) for name in given.described(looked)),
                source=given.source,
                rows_in_data=given.rows,
                unreachable=tuple(self._not_seen()),
                settings=LookSettings(tuple(self._layers), tuple(self._places), self._seed),
            )

    def _look_at(self, places: Sequence[int], feed: Feed, rows: int) -> None:
        """One call of the model with so many rows; the first are those at `places`."""
        outputs = self._outputs(feed)
        scores = self._scores(feed, outputs)
        for number, place in enumerate(places):
            for key in sorted(outputs, key=self._comes_late):
                if key not in scores:
                    by_row = outputs[key].ndim > 0 and len(outputs[key]) == rows
                    self._keep(key, place, outputs[key], number if by_row else None, None)
            for key, arrays in scores.items():
                for turn, array in enumerate(arrays):
                    self._keep(key, place, array, number if len(array) == rows else None, turn)
        self._seen |= {base(key, self._known) for key in outputs}

    def _is_light(self, path: str) -> bool:
        """Whether a layer that nobody asked for can be seen without a thought about memory."""
        if self._expected.get(path) != "" or path in self._layers:
            return False
        shape = self._known[path].output_shape if path in self._known else None
        values = math.prod(size or _OPEN_SIZE for size in shape[1:]) if shape else MOST_BYTES
        return 4 * values * len(self._places) <= MOST_BYTES // MOST_LAYERS

    def _comes_late(self, key: str) -> bool:
        """Whether a layer is only looked at where there is room left."""
        return base(key, self._known) in self._also

    def _not_seen(self) -> list[UnseenLayer]:
        found = [UnseenLayer(path, self._expected[base(path, self._expected)]) for path in self._unseen]
        return found + [UnseenLayer(path, NO_VALUE) for path in self._layers if path not in self._seen]

    def _outputs(self, feed: Feed) -> Feed:
        fed = {path: fed_by(self._known[path], feed) for path in (*self._layers, *self._also)}
        inputs = {path: feed[name] for path, name in fed.items() if name}
        others = [path for path, name in fed.items() if not name]
        found: Feed = self._runner.activations(feed, others) if others else {}
        return inputs | {key: real_values(array, self._known.get(key)) for key, array in found.items()}

    def _scores(self, feed: Feed, outputs: Feed) -> dict[str, list[npt.NDArray[Any]]]:
        """Attention scores by layer: asked of the live model, or a graph's softmax itself."""
        chosen = set(attention_layers(self._architecture))
        if isinstance(attentive := self._runner.can(Attentive), Attentive):
            asked = [path for path in (*self._layers, *self._also) if path in chosen]
            found = attentive.attention(feed, asked) if asked else {}
            return {f"{path} (attention)": arrays for path, arrays in found.items()}
        return {key: [array] for key, array in outputs.items() if key in chosen and array.ndim in (3, 4)}

    def _keep(self, key: str, place: int, array: npt.NDArray[Any], number: int | None, turn: int | None) -> None:
        """Writes one look, or says why it is left out.

        Args:
            number: the sample's entry of `array`; None where it has no entry for each row.
            turn: which attention of the layer, None for its output.
        """
        path = key.removesuffix(" (attention)") if turn is not None else key
        shared = array[0] if array.ndim > 1 and len(array) == 1 else array
        row = shared if number is None else array[number]
        entry = LayerLook(base(path, self._known), path, place, tuple(int(size) for size in row.shape), turn or 0)
        if array.dtype.kind not in "fiub" or not array.size:
            self._looks.append(replace(entry, note="Its output holds no numbers to draw."))
            return
        if turn is not None:
            look = attention_of(row.reshape(-1, *row.shape[-2:]))
        else:
            look = look_at(row, row.ndim < array.ndim and self._channels_first(path, array.ndim))
        entry = replace(entry, kind=look.kind, axes=look.axes)
        if look.values.nbytes > self._left_bytes:
            if not self._comes_late(path):
                note = f"Left out: the job's {MOST_BYTES >> 20} MB are used up."
                self._looks.append(replace(entry, note=note))
            return
        self._left_bytes -= look.values.nbytes
        notes = look.notes if number is not None else (*look.notes, "It has no entry for each row; all of it is shown.")
        finite = row[np.isfinite(row)] if row.dtype.kind == "f" else row
        if finite.size:
            entry = replace(
                entry,
                min=float(finite.min()),
                max=float(finite.max()),
                mean=float(finite.mean(dtype=np.float64)),
                std=float(finite.std(dtype=np.float64)),
            )
        file = self._context.save(f"look-{len(self._looks)}", look.values)
        nonfinite = int(row.size - finite.size)
        self._looks.append(replace(entry, file=file, note=" ".join(notes), nonfinite=nonfinite, channels=look.channels))

    def _channels_first(self, key: str, rank: int) -> bool:
        return self._watching.layout(key, rank).axis == 1


_HELD_BYTES = 256 << 20


class OneLayer:
    """The layer that params["layer"] names."""

    def __init__(self, context: TaskContext, architecture: Architecture, runner: Runner) -> None:
        """Checks that it can be seen.

        Raises:
            BadSetting: there is no such layer, or its output cannot be seen; says why.
        """
        asked = str(context.params.get("layer") or "")
        expected = reachable(architecture, runner)
        path = wanted_layers(architecture, expected, [asked], context.files["model"].name)[0]
        self.path = path
        self._layer = known_layers(architecture, runner)[path]
        self._runner = runner
        self._key = asked if base(asked, expected) == path and asked else path
        self._watching = Watching(architecture, runner, [path], context.budget.memory_bytes)

    def batch_size(self, wanted: int) -> int:
        """At most `wanted` rows in one call, fewer where the layer's output is large."""
        return max(1, min(wanted, _HELD_BYTES // max(1, output_bytes(self._layer, 1))))

    def layout(self, rank: int) -> Layout:
        """How its output is read."""
        return self._watching.layout(self.path, rank)

    @property
    def rank(self) -> int:
        """Of its output as described; 2 where that is unknown."""
        return len(self._layer.output_shape) if self._layer.output_shape is not None else 2

    def output(self, feed: Feed) -> npt.NDArray[Any]:
        """Its output (the call that was asked for, else the first) on a feed.

        Raises:
            BadSetting: it has none on this feed.
        """
        if name := fed_by(self._layer, feed):
            return feed[name]
        found: Feed = self._runner.activations(feed, [self.path])
        array = found.get(self._key, found.get(self.path, next(iter(found.values()), np.zeros(0, object))))
        if array.dtype == object and not array.size:
            raise BadSetting(f"Layer {self.path!r}: its output cannot be read on this data. Choose another layer.")
        return real_values(array, self._layer)
