"""ONNX, by tf2onnx from one traced graph; weights of large models stay out of the translation."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stethoscope.compare.convert import (
    apart_weights,
    float32_graphs,
    graph_repairs,
    onnx_refusals,
    tflite_operators,
)
from stethoscope.compare.convert.converter import CannotConvert, Made, Source
from stethoscope.compare.convert.onnx_code import onnx_code
from stethoscope.compare.convert.options import Options
from stethoscope.compare.convert.traced import FrozenModel, freeze, trace
from stethoscope.models.formats import format_of
from stethoscope.task import Reporter
from stethoscope.types import Architecture

_FILE = "model.onnx"


class ToOnnx:
    """See the module's docstring."""

    id = "onnx"
    title = "ONNX"
    suffix = ".onnx"
    about = "For ONNX Runtime on servers, Windows and browsers, and as the way to TensorRT and OpenVINO."
    place = 0
    calibrated = False
    options = ("batch_size", "opset")

    def refusal(self, architecture: Architecture) -> str:
        """Only an ONNX model is refused: it is one."""
        return "It is an ONNX model already." if format_of(architecture).runtime == "onnxruntime" else ""

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Translates the traced graph (or the operators of a TFLite file) and writes one file."""
        path = folder / _FILE
        if format_of(source.architecture).runtime == "litert":
            return self._from_tflite(source, options, path, report)
        report("trace", 0.05, "tracing the model")
        frozen = freeze(trace(source, options.batch_size), source.file.name)
        others = float32_graphs.other_floats(frozen.definition, float32_graphs.FOR_ONNX)
        if others:
            float32_graphs.in_float32(frozen.definition, others)
        graph_repairs.repair(frozen.definition)
        apart = apart_weights.take_apart(frozen.definition)
        report("convert", 0.2, f"translating {len(frozen.definition.node):,} operators")
        with _log() as told:
            model = _translated(frozen, apart.names, options.opset, source.file.name)
        onnx_refusals.raise_for_missing(told, model, source, options.opset)
        report("write", 0.7, "writing the file")
        beside = apart_weights.write(model, apart, apart_weights.put_back(model, apart), path)
        notes = [float32_graphs.note(others)] if others else []
        notes += (
            ["Its weights lie in a second file beside it, because one file of ONNX ends at 2 GB."] if beside else []
        )
        return Made(path, tuple(notes))

    def _from_tflite(self, source: Source, options: Options, path: Path, report: Reporter) -> Made:
        import tf2onnx

        tflite_operators.teach()
        onnx_refusals.raise_for_unknown(source)
        report("convert", 0.1, f"translating {len(source.architecture.layers):,} operators")
        (path.parent / "plain").mkdir()
        plain = format_of(source.architecture).plain_file(source.file, path.parent / "plain")
        with _log() as told:
            try:
                model, _ = tf2onnx.convert.from_tflite(str(plain.path), opset=options.opset)
            except (ValueError, KeyError, AttributeError, RuntimeError, TypeError, IndexError, AssertionError) as error:
                raise onnx_refusals.unreadable_tflite(error, told, source) from error
        onnx_refusals.raise_for_missing(told, model, source, options.opset)
        onnx_refusals.raise_for_wide_integers(model, source)
        path.write_bytes(model.SerializeToString())
        names = [value.name for value in model.graph.input], [value.name for value in model.graph.output]
        return Made(
            path,
            inputs=dict(zip(names[0], (spec.name for spec in source.runner.inputs), strict=False)),
            outputs=dict(zip(names[1], (spec.name for spec in source.runner.outputs), strict=False)),
        )

    def code(self, architecture: Architecture, options: Options) -> str:
        """The plain way, for models of moderate size."""
        return onnx_code(architecture, options)


def _translated(frozen: FrozenModel, apart: Sequence[str], opset: int, name: str) -> Any:
    """The ONNX model; its inputs are the model's, then the weights kept apart.

    tf2onnx tries each of its optimisations on a deep copy of the whole graph, so as to survive when one fails: most of its time.
    Here that is done only when one did fail.
    """
    import tensorflow as tf
    from tf2onnx import optimizer, tf_loader, tfonnx

    inputs = [tensor for tensor, _ in frozen.inputs]
    outputs = [tensor for tensor, _ in frozen.outputs]
    renamed = {tensor: spec.name for tensor, spec in frozen.inputs}
    renamed |= {tensor: original for tensor, original in frozen.outputs if tensor not in renamed}
    try:
        with tf.Graph().as_default():
            definition = tf_loader.tf_optimize([*inputs, *apart], outputs, frozen.definition)
        for careful in (False, True):
            with tf.Graph().as_default() as graph:
                tf.import_graph_def(definition, name="")
                made = tfonnx.process_tf_graph(
                    graph,
                    continue_on_error=True,
                    opset=opset,
                    input_names=[*inputs, *apart],
                    output_names=outputs,
                    tensors_to_rename=_no_twice(renamed),
                )
                try:
                    made = optimizer.optimize_graph(made, catch_errors=careful)
                except Exception:  # an optimisation that fails is left out, the second time
                    if careful:
                        raise
                    continue
                return made.make_model(f"converted from {name}")
    except (
        tf.errors.OpError,
        ValueError,
        KeyError,
        AttributeError,
        RuntimeError,
        TypeError,
        IndexError,
        AssertionError,
    ) as error:
        said = onnx_refusals.said(error)
        raise CannotConvert(f"{name}: tf2onnx cannot translate it: {said}. Try another opset.") from error
    raise AssertionError("unreachable")


def _no_twice(renamed: dict[str, str]) -> dict[str, str]:
    """Names of ONNX are one space: an output called as an input gets another."""
    taken: set[str] = set()
    found = {}
    for tensor, name in renamed.items():
        made, number = name, 1
        while made in taken:
            number += 1
            made = f"{name}_{number}"
        taken.add(made)
        found[tensor] = made
    return found


@contextmanager
def _log() -> Iterator[list[str]]:
    """What tf2onnx complains about, as it only logs it."""
    told: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    logger = logging.getLogger("tf2onnx")
    collect, before = Collect(logging.WARNING), logger.level
    logger.addHandler(collect)
    logger.setLevel(logging.WARNING)
    try:
        yield told
    finally:
        logger.removeHandler(collect)
        logger.setLevel(before)


CONVERTER = ToOnnx()
