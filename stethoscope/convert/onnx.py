"""ONNX, by tf2onnx from one traced graph; weights of large models stay out of the translation."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stethoscope.convert import apart_weights, graph_repairs
from stethoscope.convert.converter import CannotConvert, Made, Source, Unsupported
from stethoscope.convert.options import Options
from stethoscope.convert.origins import Origins
from stethoscope.convert.python_code import loading
from stethoscope.convert.traced import FrozenModel, freeze, trace
from stethoscope.convert.ways_round import way_round
from stethoscope.framework_errors import gist
from stethoscope.task import Reporter
from stethoscope.types import Architecture

_UNSUPPORTED = re.compile(r"Tensorflow op \[(?P<node>.+): (?P<op>\w+)\] is not supported")
_FAILED = re.compile(r"Failed to convert node '(?P<node>[^']+)'")
_ENDINGS = re.compile(r"(__\d+|:\d+)+$")
_FILE = "model.onnx"


class ToOnnx:
    """See the module's docstring."""

    id = "onnx"
    title = "ONNX"
    suffix = ".onnx"
    about = "For ONNX Runtime on servers, Windows and browsers, and as the way to TensorRT and OpenVINO."
    place = 0
    calibrated = False

    def refusal(self, architecture: Architecture) -> str:
        """Only an ONNX model is refused: it is one."""
        return "It is an ONNX model already." if architecture.format_id == "onnx" else ""

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Translates the traced graph (or the operators of a TFLite file) and writes one file."""
        path = folder / _FILE
        if source.architecture.format_id == "tflite":
            return self._from_tflite(source, options, path, report)
        report("trace", 0.05, "tracing the model")
        frozen = freeze(trace(source, options.batch_size), source.file.name)
        graph_repairs.repair(frozen.definition)
        apart = apart_weights.take_apart(frozen.definition)
        report("convert", 0.2, f"translating {len(frozen.definition.node):,} operators")
        with _log() as told:
            model = _translated(frozen, apart.names, options.opset, source.file.name)
        _raise_for(told, model, source, options.opset)
        report("write", 0.7, "writing the file")
        beside = apart_weights.write(model, apart, apart_weights.put_back(model, apart), path)
        note = "Its weights lie in a second file beside it, because one file of ONNX ends at 2 GB."
        return Made(path, (note,) if beside else ())

    def _from_tflite(self, source: Source, options: Options, path: Path, report: Reporter) -> Made:
        import tf2onnx

        report("convert", 0.1, f"translating {len(source.architecture.layers):,} operators")
        with _log() as told:
            try:
                model, _ = tf2onnx.convert.from_tflite(str(source.file.path), opset=options.opset)
            except (ValueError, KeyError, AttributeError, RuntimeError, TypeError, IndexError, AssertionError) as error:
                raise CannotConvert(
                    f"{source.file.name}: tf2onnx cannot read this TFLite file: {gist(error)}. Convert the model that it was made from.",
                    _told(told, source, "ONNX"),
                ) from error
        _raise_for(told, model, source, options.opset)
        _raise_for_wide_integers(model, source)
        path.write_bytes(model.SerializeToString())
        names = [value.name for value in model.graph.input], [value.name for value in model.graph.output]
        return Made(
            path,
            inputs=dict(zip(names[0], (spec.name for spec in source.runner.inputs), strict=False)),
            outputs=dict(zip(names[1], (spec.name for spec in source.runner.outputs), strict=False)),
        )

    def code(self, architecture: Architecture, options: Options) -> str:
        """The plain way, for models of moderate size."""
        if architecture.format_id == "tflite":
            return (
                "import tf2onnx\n\n"
                f'tf2onnx.convert.from_tflite("model.tflite", opset={options.opset}, output_path="model.onnx")\n'
            )
        exact = _ERFC_CODE if _has_gelu(architecture) else ""
        return (
            "import tf2onnx\n"
            + loading(architecture, options.batch_size)
            + exact
            + f'\n\ntf2onnx.convert.from_function(call, specs, opset={options.opset}, output_path="model.onnx")\n'
        )


_ERFC_CODE = """

@tf2onnx.handler.tf_op("Erfc")  # of the exact GELU: ONNX has Erf only
class Erfc:
    @classmethod
    def version_9(cls, ctx, node, **_):
        dtype, shape = ctx.get_dtype(node.output[0]), ctx.get_shape(node.output[0])
        one = tf.ones((), tf2onnx.utils.map_onnx_to_numpy_type(dtype)).numpy()
        one = ctx.make_const(tf2onnx.utils.make_name("one"), one).output[0]
        erf = ctx.make_node("Erf", node.input).output[0]
        ctx.remove_node(node.name)
        ctx.make_node("Sub", [one, erf], name=node.name, outputs=node.output, shapes=[shape], dtypes=[dtype])
"""


def _has_gelu(architecture: Architecture) -> bool:
    return any("gelu" in f"{layer.type} {layer.config.get('activation', '')}".lower() for layer in architecture.layers)


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
        raise CannotConvert(f"{name}: tf2onnx cannot translate it: {gist(error)}. Try another opset.") from error
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


def _told(told: Sequence[str], source: Source, title: str) -> list[Unsupported]:
    origins = Origins(source.architecture)
    found: dict[tuple[str, str], Unsupported] = {}
    for line in told:
        if match := _UNSUPPORTED.search(line):
            operator, layer = match["op"], origins.layer(match["node"])
            found[operator, layer] = Unsupported(operator, layer, line.splitlines()[0], way_round(operator, title))
        elif match := _FAILED.search(line):
            layer = origins.layer(match["node"])
            operator = origins.type(layer) or match["node"].rsplit("/", 1)[-1]
            message = " ".join(line.split())[:300]
            found.setdefault((operator, layer), Unsupported(operator, layer, message, way_round(operator, title)))
    return list(found.values())


def _raise_for(told: Sequence[str], model: Any, source: Source, opset: int) -> None:
    """Raises where operators are left that ONNX does not have."""
    from onnx import defs

    versions = {one.domain: one.version for one in model.opset_import}
    known = {one.operator: one for one in _told(told, source, "ONNX")}
    left: dict[tuple[str, str], Unsupported] = {}
    origins = Origins(source.architecture)
    for node in _all_nodes(model.graph):
        if defs.has(node.op_type, node.domain) and node.domain in versions:
            try:
                defs.get_schema(node.op_type, versions[node.domain], node.domain)
                continue
            except defs.SchemaError:
                pass
        layer = origins.layer(_ENDINGS.sub("", node.name))
        said = known.get(node.op_type)
        left[node.op_type, layer] = Unsupported(
            node.op_type, layer, said.message if said else "", way_round(node.op_type, "ONNX")
        )
    if left:
        names = sorted({operator for operator, _ in left})
        first = next(iter(left.values()))
        where = f" (layer {first.layer.partition(';')[0]})" if first.layer else ""
        raise CannotConvert(
            f"{source.file.name}: ONNX opset {opset} has no {', '.join(names[:4])}{where}. {first.way_round}",
            list(left.values()),
        )


def _raise_for_wide_integers(model: Any, source: Source) -> None:
    """Raises where a TFLite file computes in 16-bit integers: ONNX has them from opset 21, which tf2onnx does not write."""
    from onnx import TensorProto

    kinds = {one.name: one.data_type for one in model.graph.initializer}
    for node in _all_nodes(model.graph):
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and kinds.get(node.input[-1]) == TensorProto.INT16:
            layer = Origins(source.architecture).layer(_ENDINGS.sub("", node.name))
            advice = "Convert the model that it was made from, or its int8 version."
            raise CannotConvert(
                f"{source.file.name}: it computes in 16-bit integers, which ONNX has from opset 21 on and tf2onnx cannot write. {advice}",
                [Unsupported(f"{node.op_type} (int16)", layer, way_round=advice)],
            )


def _all_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _all_nodes(inner)


CONVERTER = ToOnnx()
