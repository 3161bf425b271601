"""A frozen graph: one GraphDef with constants in place of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stethoscope.compare.convert.converter import CannotConvert, Made, Options, Source
from stethoscope.compare.convert.idle_writes import settled
from stethoscope.compare.convert.traced import freeze, trace
from stethoscope.compare.convert.ways_round import FROZEN, loading, not_traceable
from stethoscope.task import Reporter
from stethoscope.types import Architecture

_MOST_BYTES = (2 << 30) - 1


class ToFrozenGraph:
    """See the module's docstring."""

    id = "frozen_graph"
    title = "Frozen graph"
    suffix = ".pb"
    about = "For tools that read a GraphDef: OpenCV, TensorFlow 1, TensorRT's old parser."
    place = 21
    calibrated = False
    options = ("batch_size",)

    def refusal(self, architecture: Architecture) -> str:
        """TFLite and ONNX files are refused, and what is one already."""
        if architecture.format_id == self.id:
            return "It is a frozen graph already."
        return not_traceable(architecture, self.title)

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Writes one GraphDef; its outputs are operators with the outputs' names."""
        report("trace", 0.1, "tracing the model")
        traced = settled(trace(source, options.batch_size))
        report("convert", 0.4, "putting the weights into the graph")
        frozen = freeze(traced, source.file.name)
        if frozen.definition.ByteSize() > _MOST_BYTES:
            raise CannotConvert(
                f"{source.file.name}: a graph ends at 2 GiB, and this one would have {frozen.definition.ByteSize():,} bytes. "
                "Convert it to a SavedModel or to ONNX, which keep weights apart."
            )
        by_tensor = {tensor: name for name, tensor in traced.output_tensors.items()}
        renamed = _with_output_names(frozen.definition, by_tensor)
        definition = _only_needed(frozen.definition, list(renamed.values()))
        path = folder / "model.pb"
        report("write", 0.7, "writing the file")
        path.write_bytes(definition.SerializeToString())
        original = dict(traced.outputs)
        return Made(
            path,
            inputs={tensor.partition(":")[0]: spec.name for tensor, spec in frozen.inputs},
            outputs={renamed[tensor]: original[name] for tensor, name in by_tensor.items()},
        )

    def code(self, architecture: Architecture, options: Options) -> str:
        """TensorFlow's own function."""
        return (
            loading(architecture, options.batch_size)
            + f"\n\n{FROZEN}\n"
            + 'tf.io.write_graph(frozen.graph, ".", "model.pb", as_text=False)\n'
        )


def _only_needed(definition: Any, outputs: Sequence[str]) -> Any:
    """The graph without operators that no output needs: a frozen graph's outputs are known by nothing reading them."""
    from tensorflow.python.framework.graph_util_impl import extract_sub_graph

    return extract_sub_graph(definition, [tensor.partition(":")[0] for tensor in outputs])


def _with_output_names(definition: Any, wanted: Mapping[str, str]) -> dict[str, str]:
    """Gives the operators behind outputs their names; returns each output's name by its tensor.

    TensorFlow ends a function with an Identity of its own behind each output: where that one reads the operator that has the name
    already, that one is the output.
    """
    by_name = {node.name: node for node in definition.node}
    readers = Counter(source.lstrip("^").partition(":")[0] for node in definition.node for source in node.input)
    found = {}
    for tensor, name in wanted.items():
        operator, _, index = tensor.partition(":")
        node = by_name.get(operator)
        found[tensor] = operator if index in ("", "0") else tensor
        if index not in ("", "0") or node is None or readers[operator]:
            continue
        values = [source for source in node.input if not source.startswith("^")]
        if node.op == "Identity" and values in ([name], [f"{name}:0"]) and readers[name] == 1:
            found[tensor] = name
        elif name not in by_name:
            node.name = name
            by_name[name] = node
            found[tensor] = name
    return found


CONVERTER = ToFrozenGraph()
