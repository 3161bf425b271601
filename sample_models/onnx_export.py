"""TensorFlow to ONNX, believed only after onnxruntime gave the same answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

_OPSET = 18
_TOLERANCE = 1e-5
_GENERATED = re.compile(r"__\d+$")


def export(function: Any, signature: list[Any], feed: dict[str, npt.NDArray[Any]]) -> Any:
    """Converts a `tf.function` that returns a dict of tensors; returns an onnx.ModelProto.

    Args:
        function: what to convert.
        signature: its input specs, each with a name.
        feed: one array per input name, to compare both runtimes on.

    Raises:
        ValueError: onnxruntime and TensorFlow differ by more than the tolerance.
    """
    import onnxruntime
    import tf2onnx

    model, _ = tf2onnx.convert.from_function(function, input_signature=signature, opset=_OPSET)
    _settle_names(model.graph)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = function(*(feed[spec.name] for spec in signature))
    for output in session.get_outputs():
        (got,) = session.run([output.name], feed)
        difference = float(np.max(np.abs(got - expected[output.name].numpy())))
        if difference > _TOLERANCE:
            raise ValueError(
                f"ONNX output {output.name!r}: expected at most {_TOLERANCE} of difference, got {difference}."
            )
    return model


def _settle_names(graph: Any) -> None:
    """Names weights after the first operator that reads them, in that order, and renumbers what tf2onnx generated.

    tf2onnx merges equal constants and keeps the name of either, so its names change from run to run.
    """
    weights = {weight.name: weight for weight in graph.initializer}
    new: dict[str, str] = {}

    def settle(name: str) -> str:
        return new.setdefault(name, _GENERATED.sub(f"__{len(new)}", name))

    for node in graph.node:
        node.name = settle(node.name)
        for slot, name in enumerate(node.input):
            if name in weights:
                new.setdefault(name, f"{node.name}/input_{slot}")
        node.input[:] = [settle(name) for name in node.input]
        node.output[:] = [settle(name) for name in node.output]
    ordered = [weights[name] for name in new if name in weights]
    for weight in ordered:
        weight.name = new[weight.name]
    del graph.initializer[:]
    graph.initializer.extend(ordered)
