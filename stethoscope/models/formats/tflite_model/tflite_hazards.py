"""What stands between a TFLite file and the installed runtime, judged by its operators alone."""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.models.formats.tf_graph.graph_ops import rule_for
from stethoscope.models.formats.tflite_model.tflite_reader import Model, Operator, Subgraph
from stethoscope.types import Hazard

KNOWN_CUSTOM = frozenset({"NumericVerify", "Mfcc", "AudioSpectrogram", "TFLite_Detection_PostProcess"})
"""Custom operators that LiteRT's own resolver registers. Source: tflite/core/kernels/register.cc."""
_REACHES = {
    "file-access": "reads or writes files of the machine it runs on",
    "python-function": "runs a Python function of the process it is loaded in",
}
_NPU = {
    "edgetpu-custom-op": "Part of it is compiled for the Coral Edge TPU (operator edgetpu-custom-op) and runs only on one. "
    "Run the .tflite it was compiled from.",
    "DISPATCH_OP": "Part of it is compiled for one phone chip's NPU (operator DISPATCH_OP) and runs only there. "
    "Run the .tflite it was compiled from.",
}


def hazards(model: Model) -> Iterator[Hazard]:
    """Yields each kind of operator that reaches outside the model, once."""
    for name in _custom(model):
        if name in KNOWN_CUSTOM or name in _NPU:
            continue
        wrapped = name.removeprefix("Flex")
        rule = rule_for(wrapped) if wrapped != name else ""
        if wrapped == name:
            message = f"Operator {name} is custom code outside the file; what it does cannot be seen from here."
            yield Hazard("custom-operator", name, message)
        elif rule == "compute":
            message = (
                f"Operator {name} is TensorFlow's {wrapped}, run by TensorFlow itself (Select TF) instead of TFLite."
            )
            yield Hazard("select-tf-operator", name, message)
        else:
            does = _REACHES.get(rule, "does more than compute, or is not part of TensorFlow")
            yield Hazard(rule or "custom-operator", name, f"Operator {name} is TensorFlow's {wrapped}: it {does}.")


def why_not(model: Model) -> str:
    """Returns one sentence that says why the installed runtime cannot execute it; "" when it should."""
    names = _custom(model)
    for name, sentence in _NPU.items():
        if name in names:
            return sentence
    flex = [name for name in names if name.startswith("Flex")]
    if flex:
        return (
            f"It needs Select TF operators ({_some(flex)}), which the installed LiteRT runtime does not have. "
            "Convert it with TFLITE_BUILTINS only, or run the SavedModel it came from."
        )
    unknown = [name for name in names if name not in KNOWN_CUSTOM]
    if unknown:
        return (
            f"It needs the custom operator{'s' * (len(unknown) > 1)} {_some(unknown)}, which the installed LiteRT runtime does not have. "
            "It runs only in the program that ships them."
        )
    if any(_narrow_state(op, subgraph) for subgraph in model.subgraphs for op in subgraph.operators):
        return (
            "Its SVDF operators keep an 8-bit state, which only TensorFlow Lite Micro implements; "
            "LiteRT would write 16 bits into it and damage its own memory. Run it with TensorFlow Lite Micro."
        )
    newer = sorted({op.type for sub in model.subgraphs for op in sub.operators if op.type.startswith("BUILTIN_")})
    if newer:
        return f"It uses built-in operators newer than the installed LiteRT runtime ({_some(newer)}). Update ai-edge-litert."
    return ""


def _narrow_state(operator: Operator, subgraph: Subgraph) -> bool:
    """Whether an integer SVDF has the state that LiteRT's kernel (svdf.cc, EvalIntegerSVDF) overruns without a check."""
    if operator.type != "SVDF" or len(operator.inputs) != 5 or -1 in (operator.inputs[0], operator.inputs[4]):
        return False
    fed, state = subgraph.tensors[operator.inputs[0]], subgraph.tensors[operator.inputs[4]]
    return fed.dtype == "int8" and state.dtype != "int16"


def _custom(model: Model) -> list[str]:
    found = (op.type for subgraph in model.subgraphs for op in subgraph.operators if op.custom)
    return list(dict.fromkeys(found))


def _some(names: list[str]) -> str:
    shown = ", ".join(name[:80] for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
