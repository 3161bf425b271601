"""One of two models that are compared: opened, fed with real numbers, its answers and layers as real numbers.

Opening a side of a comparison in the way it is to be run: call style, precision, XLA, device, threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope import devices
from stethoscope.activations.reach import base, fed_by, known_layers, reachable
from stethoscope.activations.watching import real_values
from stethoscope.compare.parity.layer_tensors import Clipped, LayerTensors
from stethoscope.compare.parity.precision import Way
from stethoscope.data.batching import Batching, in_calls
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.memory.call_styles import TITLES, caller
from stethoscope.memory.configure import configure
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.memory.refusals import of_other_runtimes
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats import detect, format_of
from stethoscope.models.quantisation import STORED, dequantised, held_range, quantised, said_scale
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Layer, ModelFile, Refusal, Runner

HELD_BYTES = 512 << 20
"""Of layers' answers at once: what does not fit costs the model another run."""
_OPEN = 64
FEW = 2
"""Rows that are asked about once more, to tell whether a model always answers the same, or as `predict` does."""


class SideSeen:
    """A model that has been described and need not be open."""

    def __init__(self, file: ModelFile, architecture: Architecture) -> None:
        self.file, self.architecture = file, architecture
        self._known: dict[str, Layer] = {layer.path: layer for layer in architecture.layers}
        self.channels_first = format_of(architecture).channels_first

    def layer(self, path: str) -> Layer:
        """A layer by its path."""
        return self._known.get(path) or Layer(path, "", None, 0, 0, "")


class Side(SideSeen):
    """An opened model."""

    def __init__(
        self, file: ModelFile, architecture: Architecture, runner: Runner, call: Callable[[Feed], Feed] | None = None
    ) -> None:
        """Wraps an opened model.

        Args:
            file: of the model.
            architecture: of the model.
            runner: the opened model.
            call: how it is called for its outputs; the runner's own way for None.
        """
        super().__init__(file, architecture)
        self.runner = runner
        self._call = call or runner.predict
        self.batching = Batching.of(runner.inputs)
        self._ends = format_of(architecture).ends(file)
        self._known = known_layers(architecture, runner)

    def fed(self, feed: Feed) -> Feed:
        """Real numbers as this model takes them: its dtypes, its integers."""
        cast = {}
        for spec in self.runner.inputs:
            array = feed[spec.name]
            integers = spec.dtype in STORED and array.dtype.kind == "f"
            text = array.dtype.kind in "OSU" or spec.dtype in ("", "string", "bfloat16")
            cast[spec.name] = array if text or integers or array.dtype == spec.dtype else array.astype(spec.dtype)
        return quantised(cast, self.runner.inputs, self._ends.inputs)

    def real(self, feed: Feed) -> Feed:
        """The real numbers that rows for this model stand for: every other model takes those."""
        return dequantised(feed, self._ends.inputs)

    def clipped(self, feed: Feed) -> dict[str, Clipped]:
        """What each quantised input cuts off of the feed."""
        found = {}
        for name, (low, high) in self._ends.ranges.items():
            array = feed.get(name)
            if array is None or array.dtype.kind != "f":
                continue
            step = (high - low) / 255
            share = float(np.mean((array < low - step) | (array > high + step)))
            if share > 0:
                found[name] = (low, high, share)
        return found

    def outputs(self, feed: Feed, batch_size: int | None = None) -> Feed:
        """Its answers to all rows, as real numbers; from the state that it begins with, where it keeps one."""
        self.runner.forget()
        return dequantised(in_calls(self._call, self.fed(feed), self.batching, batch_size), self._ends.outputs)

    def predicted(self, feed: Feed) -> Feed:
        """What `predict` answers to the first few rows, whatever way the model is called here; empty for what is no Keras model."""
        if isinstance(self.runner.can(LiveModel), Refusal):
            return {}
        call = caller(self.runner, RunSettings(call="predict", batch_size=FEW))
        with closing(call):
            self.runner.forget()
            return in_calls(call, self.fed(self.batching.part(feed, 0, FEW)), self.batching)

    def layers(self, feed: Feed, folder: Path) -> LayerTensors:
        """What every layer that can be seen answers to the rows, kept in `folder`."""
        kept = LayerTensors(folder)
        expected = reachable(self.architecture, self.runner)
        wanted = [path for path, reason in expected.items() if not reason and path in self._known]
        rows = self.batching.rows(feed)
        for part in self._parts(wanted, rows):
            for key, array in self.seen(feed, part).items():
                layer = base(key, self._known)
                kept.add(key, layer, array)
                self._note_range(kept, key, self._known.get(layer))
        if kept and self._is_unsteady(feed):
            for part in self._parts(wanted, rows):
                for key, array in self.seen(feed, part).items():
                    if key in kept:
                        kept.moved[key] = _moved(kept.read(key), array)
        return kept

    def _is_unsteady(self, feed: Feed) -> bool:
        """Whether the same few rows are answered otherwise when asked again."""
        few = self.batching.part(feed, 0, FEW)
        once, again = self.outputs(few), self.outputs(few)
        return any(one.dtype.kind in "fiub" and not _same(one, again[name]) for name, one in once.items())

    def seen(self, feed: Feed, layers: Sequence[str]) -> Feed:
        """The layers' answers as real numbers.

        Raises:
            CannotRun, BadInput: as `Runner.activations`.
        """
        fed = self.fed(feed)
        ends = {path: name for path in layers if (name := fed_by(self.layer(path), feed))}
        inside = [path for path in layers if path not in ends]
        self.runner.forget()
        found = in_calls(lambda one: self.runner.activations(one, inside), fed, self.batching) if inside else {}
        shown = {path: feed[name] for path, name in ends.items()}
        return shown | {
            key: real_values(array, self._known.get(base(key, self._known))) for key, array in found.items()
        }

    def _parts(self, wanted: Sequence[str], rows: int) -> list[list[str]]:
        """Layers in groups that are held together; one group where the model would run anew for each at too much cost."""
        parts: list[list[str]] = [[]]
        held = 0
        for path in wanted:
            shape = self._known[path].output_shape or (None, _OPEN, _OPEN)
            size = 4 * rows * math.prod(one or _OPEN for one in shape[1:])
            if held + size > HELD_BYTES and parts[-1]:
                parts.append([])
                held = 0
            parts[-1].append(path)
            held += size
        return [part for part in parts if part]

    def _note_range(self, kept: LayerTensors, key: str, layer: Layer | None) -> None:
        scale = None if layer is None else said_scale(layer.config.get("output_quantization"))
        held = None if layer is None else held_range(layer.dtype, scale)
        if scale is not None and held is not None and key in kept:
            kept.quantised[key], kept.steps[key] = held, scale[0]


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _moved(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> float:
    """The root mean square difference as a share of the first."""
    if one.shape != other.shape:
        return 1.0
    gap = np.nan_to_num(other.astype(np.float64) - one.astype(np.float64))
    size = float(np.sqrt(np.mean(np.square(np.nan_to_num(one.astype(np.float64))))))
    return float(np.sqrt(np.mean(np.square(gap)))) / (size or 1e-30)


def layers_or_reason(side: Side, feed: Feed, folder: Path) -> tuple[LayerTensors, str]:
    """The layers' answers, or none and why."""
    try:
        return side.layers(feed, folder), ""
    except StethoscopeError as error:
        return LayerTensors(folder), str(error)


_OF_THE_PROCESS = ("device", "gpu_index", "intra_threads", "inter_threads", "memory_growth", "gpu_memory_limit_bytes")


def way_of(context: TaskContext, role: str, *, alone: bool) -> Way:
    """The way that a job's params ask for, with the process made ready for it. First thing in a task.

    Args:
        context: the running job; params["settings"] is of "model", params["other_settings"] of "other".
        role: whose way.
        alone: whether only this side is run in this process.

    Raises:
        BadSetting: a setting makes no sense, is refused, or would hold for the other side too.
    """
    asked = RunSettings.from_json(context.params.get("settings" if role == "model" else "other_settings"))
    other = RunSettings.from_json(context.params.get("other_settings" if role == "model" else "settings"))
    shared = [name for name in _OF_THE_PROCESS if getattr(asked, name) != getattr(other, name)]
    if not alone and shared:
        raise BadSetting(
            f"Setting {shared[0]}: two models in one process have the same. Let the first be recorded in a job of its own."
        )
    devices.choose(asked.intra_threads)
    said = list(_in_words(asked))
    if detect(context.files[role]).worker == "tensorflow":
        said += configure(asked)
    else:
        checked = replace(asked, batch_size=RunSettings().batch_size)
        for refusal in of_other_runtimes(checked):
            raise BadSetting(f"{context.files[role].name}: {refusal.message}")
        if asked.intra_threads is not None:
            said.append(f"{asked.intra_threads} thread{'s' if asked.intra_threads > 1 else ''} within one operation.")
    return Way(asked, tuple(said))


@contextmanager
def opened(context: TaskContext, role: str, way: Way) -> Iterator[Side]:
    """Opens the model in a role, to be run in a way.

    Raises:
        CannotRun: this model cannot be run in that way.
        StethoscopeError: as `TaskContext.open_model`.
    """
    architecture, model = context.open_model(role)
    with model as runner:
        changed = with_precision(runner, way.settings.precision)
        call = caller(changed, way.settings)
        try:
            yield Side(context.files[role], architecture, changed, call)
        finally:
            call.close()
            if changed is not runner:
                changed.__exit__(None, None, None)


def described(file: ModelFile) -> Architecture:
    """What a model says about itself, without running anything."""
    return detect(file).describe(file)


def _in_words(settings: RunSettings) -> Iterator[str]:
    usual = RunSettings()
    if settings.call != usual.call:
        yield f"Called as {TITLES[settings.call]}."
    if settings.xla:
        yield "Compiled with XLA."
    if settings.precision != AS_SAVED:
        yield f"Computes in {settings.precision}."
