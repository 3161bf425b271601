"""TFLite by TensorFlow's converter, in each precision: with open dimensions where LiteRT then runs it, else with fixed ones.

Operators of a quantised TFLite file that compute in floats all the same: the quantiser leaves what it has no integers for, and says nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stethoscope.compare.convert import float32_graphs, graph_rewriting, lean_tflite, refusals
from stethoscope.compare.convert.converter import CannotConvert, Made, Options, Source, Unsupported
from stethoscope.compare.convert.float32_graphs import loop_of, unrolled
from stethoscope.compare.convert.idle_writes import settled
from stethoscope.compare.convert.made_file import fed_as, open_made
from stethoscope.compare.convert.traced import TracedModel, freeze, save_traced, trace
from stethoscope.compare.convert.ways_round import FROZEN, UNROLLED, Origins, loading, not_traceable
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.memory.run_settings import give_back
from stethoscope.models.formats import format_of
from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model.quantised_ends import input_quantisation
from stethoscope.models.quantisation import quantised
from stethoscope.task import Reporter
from stethoscope.types import Architecture, Feed, Layer, ModelFile, Runner

_FILE = "model.tflite"
_NAMED = 6
"""Operators that a note names."""
_FIXED_NOTE = "It takes {rows} row(s) in every call: an open number stands in the way of {operators}."

_ONE_ROW = "converter._experimental_default_to_single_batch_in_tensor_list_ops = True  # the lists of its loops leave rows open"
_ROWS = "# The lists of its loops leave the number of rows open, which TensorFlow's converter can only set to 1."


@dataclass(frozen=True)
class Precision:
    """How numbers are stored and computed."""

    id: str
    title: str
    about: str
    place: int
    setup: Callable[[Any, Options], None]
    """Sets TensorFlow's converter up."""
    calibrated: bool = False
    """Whether ranges are found by running rows."""
    options: tuple[str, ...] = ()
    """Fields of `Options` that count for it alone."""
    lines: tuple[str, ...] = ()
    """The same setup as Python."""
    change: Callable[[Any], None] | None = None
    """What is done to the graph, in place, so that TensorFlow takes it."""


class ToTFLite:
    """The conversion to one precision."""

    suffix = ".tflite"

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self.id, self.title, self.about, self.place = precision.id, precision.title, precision.about, precision.place
        self.calibrated = precision.calibrated
        ranges = ("calibration_rows",) if precision.calibrated else ()
        self.options: tuple[str, ...] = (*ranges, "batch_size", *precision.options)

    def refusal(self, architecture: Architecture) -> str:
        """TFLite and ONNX files are refused."""
        return not_traceable(architecture, self.title)

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Tries open dimensions first, then one row in every call; a file counts once LiteRT has run it."""
        report("trace", 0.05, "tracing the model")
        attempts = [_Attempt(source, options, self._precision, folder / _FILE, report)]
        if options.batch_size is None and _has_open(source):
            attempts.append(replace(attempts[0], options=replace(options, batch_size=1)))
        refused: StethoscopeError | None = None
        for attempt in attempts:
            try:
                made = attempt.made()
            except (CannotConvert, CannotRun) as error:
                refused = (
                    error  # that of the last attempt, with the fewest open dimensions, is what truly stands in the way
                )
                continue
            if refused is None:
                return made
            made = replace(made, options=attempt.options)
            note = _FIXED_NOTE.format(rows=attempt.options.batch_size, operators=_blamed(refused))
            return replace(made, notes=(*made.notes, note))
        assert refused is not None
        raise refused

    def code(self, architecture: Architecture, options: Options) -> str:
        """TensorFlow's own converter."""
        lines = [FROZEN, "converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])"]
        lines += self._precision.lines
        if options.batch_size is not None and any(layer.type in float32_graphs.LISTS for layer in architecture.layers):
            lines.append(_ONE_ROW if options.batch_size == 1 else _ROWS)
        if options.allow_float and self.calibrated:
            lines.append("converter.target_spec.supported_ops.append(tf.lite.OpsSet.TFLITE_BUILTINS)")
        if "integer_ends" in self.options and options.integer_ends:
            lines.append("converter.inference_input_type = converter.inference_output_type = tf.int8")
        if self.calibrated:
            key = "spec.name" if len(architecture.inputs) > 1 else '"x"'
            lines += [
                'data = np.load("data.npz")',
                "converter.representative_dataset = lambda: (",
                f"    [data[{key}][place : place + {options.batch_size or 1}] for spec in specs] for place in range({options.calibration_rows})",
                ")",
            ]
        recurrent = (
            self.calibrated and format_of(architecture).live and any(_is_recurrent(one) for one in architecture.layers)
        )
        return (
            ("import numpy as np\n" if self.calibrated else "")
            + loading(architecture, options.batch_size, UNROLLED if recurrent else "")
            + "\n\n"
            + "".join(f"{line}\n" for line in lines)
            + 'with open("model.tflite", "wb") as file:\n    file.write(converter.convert())\n'
        )


def _is_recurrent(layer: Layer) -> bool:
    return layer.type in ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM2D")


@dataclass(frozen=True)
class _Attempt:
    source: Source
    options: Options
    precision: Precision
    path: Path
    report: Reporter

    def made(self) -> Made:
        traced, unrolled_layers = self._traced()
        self.report("convert", 0.2, "TensorFlow converts; it does not say how far it is")
        self.path.write_bytes(self._converted(traced))
        give_back()
        in_floats = self._in_floats()
        file = ModelFile(self.path, self.path.name)
        names = sorted(name for name, _ in traced.outputs)
        original = dict(traced.outputs)
        made = Made(
            self.path,
            inputs={name: spec.name for name, spec in traced.inputs},
            outputs=original,
            input_order=tuple(spec.name for _, spec in traced.inputs),
            output_order=tuple(original[name] for name in names),
        )
        self.report("try", 0.8, "running it in LiteRT")
        try:
            _, opened = open_made(self.path, self.path.parent)
            with opened as runner:
                runner.predict(_one_call(self.source, made, runner, file))
        except CannotRun as error:
            raise refusals.not_run(error, self.source, self.precision.title, self.path) from error
        others = _other_floats(traced)
        notes = [float32_graphs.note(others), *in_floats] if others else [*in_floats]
        if self.precision.calibrated and self.source.calibration.source == "dummy":
            notes.append(
                "Its ranges were found with random input. Give rows of your own data: with these, real values may be clipped."
            )
        if unrolled_layers:
            notes.append(
                f"The steps of {', '.join(unrolled_layers[:4])} were written out one after another, as ranges cannot be found inside a "
                "loop: the file takes just this number of steps."
            )
        return replace(made, notes=tuple(notes))

    def _traced(self) -> tuple[TracedModel, list[str]]:
        """The traced model, and the recurrent layers that were written out for it: calibrating a loop ends the process."""
        if not self.precision.calibrated:
            return settled(trace(self.source, self.options.batch_size)), []
        with unrolled(self.source) as layers:
            traced = settled(trace(self.source, self.options.batch_size))
        if loop := loop_of(traced, self.source):
            operator, layer = loop
            fixed = (
                "Fix the number of steps and build the layer with unroll=True"
                if format_of(self.source.architecture).live
                else "Convert the Keras file that it was saved from, with a fixed number of steps: these are written out there"
            )
            advice = f"{fixed}. Or convert to dynamic-range int8, which needs no data."
            raise CannotConvert(
                f"{self.source.file.name}: ranges cannot be found inside the loop of {f'layer {layer}' if layer else operator}. {advice}",
                [Unsupported(operator, layer, way_round=advice)],
            )
        return traced, layers

    def _in_floats(self) -> list[str]:
        """A note on the operators that stayed in float, where all should be integers: the converter leaves some without a word."""
        if not self.precision.calibrated:
            return []
        found = list(float_operators(self.path, Origins(self.source.architecture)))
        places = dict.fromkeys(f"{operator}{f' (layer {layer})' if layer else ''}" for operator, layer in found)
        rest = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        return (
            [
                f"Computed in floats, for want of an integer kernel: {', '.join([*places][:_NAMED])}{rest}. A device without floats refuses it."
            ]
            if places
            else []
        )

    def _converted(self, traced: TracedModel) -> bytes:
        import tensorflow as tf
        from tensorflow.lite.python.convert_phase import ConverterError

        converter = self._converter(traced)
        self.precision.setup(converter, self.options)
        if self.precision.calibrated:
            names = [name for name, _ in traced.inputs]
            converter.representative_dataset = lambda: self._rows(names)
        try:
            return bytes(converter.convert())
        except ConverterError as error:
            raise self._refused(error, traced) from error
        except (
            ValueError,
            RuntimeError,
            TypeError,
            KeyError,
            AttributeError,
            NotImplementedError,
            tf.errors.OpError,
        ) as error:
            raise self._refused(error, traced) from error

    def _refused(self, error: Exception, traced: TracedModel) -> CannotConvert:
        return refusals.refused(error, self.source, self.precision.title, traced)

    def _converter(self, traced: TracedModel) -> Any:
        """By way of a SavedModel without variables: it keeps the names, and LiteRT finds no variable that nobody has set."""
        import tensorflow as tf

        folder = self.path.parent / f"for_tflite_{self.options.batch_size or 'any'}"
        name = self.source.file.name
        if traced.writes:
            save_traced(traced, folder, name)
            return tf.lite.TFLiteConverter.from_saved_model(str(folder))
        frozen = freeze(traced, name)
        for change in self._changes(traced):
            change(frozen.definition)
        graph = lean_tflite.write(frozen, traced, folder)
        del frozen
        give_back()
        return lean_tflite.converter(folder, graph)

    def _changes(self, traced: TracedModel) -> list[Callable[[Any], None]]:
        """What is done to the graph, in this order."""
        changes: list[Callable[[Any], None]] = []
        if others := _other_floats(traced):
            changes.append(functools.partial(float32_graphs.in_float32, dtypes=others))
        rows = float32_graphs.rows_of(traced)
        if rows is not None and float32_graphs.has_lists(traced.function.graph.as_graph_def()):
            changes.append(functools.partial(float32_graphs.close_lists, rows=rows))
        if graph_rewriting.has_sign_bits(traced.function.graph.as_graph_def()):
            changes.append(graph_rewriting.repair_sign_bits)
        return [*changes, *([self.precision.change] if self.precision.change else [])]

    def _rows(self, names: Sequence[str]) -> Iterator[Any]:
        specs = self.source.runner.inputs
        seen = 0
        for feed in self.source.calibration.feeds():
            if seen >= self.options.calibration_rows:
                return
            ordered = [feed[spec.name] for spec in specs]
            seen += len(ordered[0]) if ordered and ordered[0].ndim else 1
            self.report("calibrate", None, f"row {seen:,}")
            yield dict(zip(names, map(float32_graphs.values, ordered), strict=True))


def _other_floats(traced: TracedModel) -> list[str]:
    """Dtypes of the model that LiteRT has few kernels for."""
    if traced.writes:
        return []
    return float32_graphs.other_floats(traced.function.graph.as_graph_def(), float32_graphs.FOR_TFLITE)


def _blamed(error: StethoscopeError) -> str:
    found = getattr(error, "unsupported", ())
    told = [f"{one.operator}{f' (layer {one.layer})' if one.layer else ''}" for one in found[:2]]
    return " and ".join(told) or "running it in LiteRT"


def _has_open(source: Source) -> bool:
    return any(spec.shape is None or None in spec.shape for spec in source.runner.inputs)


def _one_call(source: Source, made: Made, runner: Runner, file: ModelFile) -> Feed:
    """The first rows of the calibration for the new file."""
    feed = fed_as(next(iter(source.calibration.feeds())), made, source.runner.inputs, runner.inputs)
    return quantised(feed, runner.inputs, input_quantisation(file))


_BRIDGES = frozenset({"QUANTIZE", "DEQUANTIZE"})


def float_operators(path: Path, origins: Origins) -> Iterator[tuple[str, str]]:
    """Yields (operator, layer of the source or "") for each operator that reads or writes floats, bridges to integers apart.

    Args:
        path: a TFLite file.
        origins: the source's layers.
    """
    for subgraph in load(ModelFile.at(path)).subgraphs:
        for operator in subgraph.operators:
            ends = [subgraph.tensors[index] for index in (*operator.inputs, *operator.outputs) if index != -1]
            if operator.type in _BRIDGES or not any(one.dtype.startswith("float") for one in ends):
                continue
            names = [subgraph.tensors[index].name for index in operator.outputs if index != -1]
            yield operator.type, next((layer for layer in map(origins.layer, names) if layer), "")
