"""ONNX, by tf2onnx from one traced graph; weights of large models stay out of the translation.

The Python of a conversion to ONNX done by hand.

Operators of TFLite that tf2onnx does not know, told to it as operators of ONNX that mean the same.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stethoscope.compare.convert import apart_weights, float32_graphs, graph_rewriting, refusals
from stethoscope.compare.convert.converter import CannotConvert, Made, Options, Source
from stethoscope.compare.convert.idle_writes import settled
from stethoscope.compare.convert.traced import FrozenModel, freeze, trace
from stethoscope.compare.convert.ways_round import loading
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
        frozen = freeze(settled(trace(source, options.batch_size)), source.file.name)
        others = float32_graphs.other_floats(frozen.definition, float32_graphs.FOR_ONNX)
        if others:
            float32_graphs.in_float32(frozen.definition, others)
        graph_rewriting.repair(frozen.definition)
        apart = apart_weights.take_apart(frozen.definition)
        report("convert", 0.2, f"translating {len(frozen.definition.node):,} operators")
        with _log() as told:
            model = _translated(frozen, apart.names, options.opset, source.file.name)
        refusals.raise_for_missing(told, model, source, options.opset)
        report("write", 0.7, "writing the file")
        beside = apart_weights.write(model, apart, apart_weights.put_back(model, apart), path)
        notes = [float32_graphs.note(others)] if others else []
        notes += (
            ["Its weights lie in a second file beside it, because one file of ONNX ends at 2 GB."] if beside else []
        )
        return Made(path, tuple(notes))

    def _from_tflite(self, source: Source, options: Options, path: Path, report: Reporter) -> Made:
        import tf2onnx

        teach()
        refusals.raise_for_unknown(source)
        report("convert", 0.1, f"translating {len(source.architecture.layers):,} operators")
        (path.parent / "plain").mkdir()
        plain = format_of(source.architecture).plain_file(source.file, path.parent / "plain")
        with _log() as told:
            try:
                model, _ = tf2onnx.convert.from_tflite(str(plain.path), opset=options.opset)
            except (ValueError, KeyError, AttributeError, RuntimeError, TypeError, IndexError, AssertionError) as error:
                raise refusals.unreadable_tflite(error, told, source) from error
        refusals.raise_for_missing(told, model, source, options.opset)
        refusals.raise_for_wide_integers(model, source)
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
        said = refusals.said(error)
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


_ERFC_CODE = """

@tf2onnx.handler.tf_op("Erfc")  # of the exact GELU: ONNX has Erf only
class Erfc:
    @classmethod
    def version_9(cls, ctx, node, **_):
        dtype, shape = ctx.get_dtype(node.output[0]), ctx.get_shape(node.output[0])
        one = np.array(1, tf2onnx.utils.map_onnx_to_numpy_type(dtype))
        one = ctx.make_const(tf2onnx.utils.make_name("one"), one).output[0]
        erf = ctx.make_node("Erf", node.input).output[0]
        ctx.remove_node(node.name)
        ctx.make_node("Sub", [one, erf], name=node.name, outputs=node.output, shapes=[shape], dtypes=[dtype])
"""
_GELU_CODE = """

@tf2onnx.handler.tfl_op(["TFL_GELU"])  # which tf2onnx does not know
class Gelu:
    @classmethod
    def version_9(cls, ctx, node, **_):
        shape, dtype, x = ctx.get_shape(node.output[0]), ctx.get_dtype(node.output[0]), node.input[0]

        def number(value):
            return ctx.make_const(tf2onnx.utils.make_name("number"), np.array(value, np.float32)).output[0]

        def write(op, *inputs, **ends):
            return ctx.make_node(op, list(inputs), shapes=[shape], dtypes=[dtype], **ends).output[0]

        if node.get_attr_value("approximate"):
            cubed = write("Mul", write("Mul", write("Mul", x, x), x), number(0.044715))
            inner = write("Tanh", write("Mul", write("Add", x, cubed), number((2 / np.pi) ** 0.5)))
        else:
            inner = write("Erf", write("Mul", x, number(0.5**0.5)))
        half, rest = write("Mul", x, number(0.5)), write("Add", inner, number(1.0))
        ctx.remove_node(node.name)
        write("Mul", half, rest, name=node.name, outputs=node.output)
"""


def onnx_code(architecture: Architecture, options: Options) -> str:
    """The plain way with tf2onnx, with what it lacks for this model."""
    gelu = _has_gelu(architecture)
    start = "import numpy as np\nimport tf2onnx.handler\n" if gelu else "import tf2onnx\n"
    ending = f'opset={options.opset}, output_path="model.onnx")\n'
    if format_of(architecture).runtime == "litert":
        taught = f"{_GELU_CODE}\n" if gelu else ""
        return f'{start}{taught}\ntf2onnx.convert.from_tflite("model.tflite", {ending}'
    loaded = loading(architecture, options.batch_size) + (_ERFC_CODE if gelu else "")
    return f"{start}{loaded}\n\ntf2onnx.convert.from_function(call, specs, {ending}"


def _has_gelu(architecture: Architecture) -> bool:
    """Whether a layer is one, or has it as its activation; in a graph it is known by its Erfc."""
    said = (f"{layer.type} {layer.config.get('activation', '')}".lower() for layer in architecture.layers)
    return any("gelu" in one or "erfc" in one for one in said)


@functools.cache
def teach() -> None:
    """Makes them known to tf2onnx, for as long as this process lives."""
    from tf2onnx.handler import tfl_op

    tfl_op(["TFL_GELU"])(_Gelu)
    tfl_op(["TFL_RELU_0_TO_1"])(_between(0.0, 1.0))
    tfl_op(["TFL_RELU_N1_TO_1"])(_between(-1.0, 1.0))


class _Gelu:
    """x/2 · (1 + erf(x/√2)), or with tanh in place of erf. Source: arXiv:1606.08415."""

    @classmethod
    def version_9(cls, graph: Any, node: Any, **_: Any) -> None:
        """How tf2onnx asks for it, from opset 9 on."""
        write = _Writer(graph, node)
        x = node.input[0]
        if node.get_attr_value("approximate"):
            cubed = write("Mul", write("Mul", write("Mul", x, x), x), write.number(0.044715))
            inner = write("Tanh", write("Mul", write("Add", x, cubed), write.number(math.sqrt(2 / math.pi))))
        else:
            inner = write("Erf", write("Mul", x, write.number(math.sqrt(0.5))))
        write.last("Mul", write("Mul", x, write.number(0.5)), write("Add", inner, write.number(1.0)))


def _between(low: float, high: float) -> type:
    class Clip:
        @classmethod
        def version_11(cls, graph: Any, node: Any, **_: Any) -> None:
            write = _Writer(graph, node)
            write.last("Clip", node.input[0], write.number(low), write.number(high))

    return Clip


class _Writer:
    """Writes operators of ONNX in place of one of TFLite."""

    def __init__(self, graph: Any, node: Any) -> None:
        self._graph, self._node = graph, node
        self._shape, self._dtype = graph.get_shape(node.output[0]), graph.get_dtype(node.output[0])

    def __call__(self, op: str, *inputs: str) -> str:
        made = self._graph.make_node(op, list(inputs), shapes=[self._shape], dtypes=[self._dtype])
        return str(made.output[0])

    def number(self, value: float) -> str:
        """A constant of the operator's own dtype."""
        import numpy as np
        from onnx import helper
        from tf2onnx.utils import make_name

        kind = helper.tensor_dtype_to_np_dtype(self._dtype)
        made = self._graph.make_const(make_name(self._node.name), np.array(value, kind))
        return str(made.output[0])

    def last(self, op: str, *inputs: str) -> None:
        """The operator whose output is that of the one replaced."""
        node = self._node
        self._graph.remove_node(node.name)
        self._graph.make_node(
            op, list(inputs), name=node.name, outputs=node.output, shapes=[self._shape], dtypes=[self._dtype]
        )
