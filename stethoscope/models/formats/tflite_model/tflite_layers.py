"""TFLite operators as layers: paths, parameters, shapes, and what stands between them and the installed runtime."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stethoscope.errors import TooLarge, UnsafeFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.tf_graph.graph_ops import rule_for
from stethoscope.models.formats.tflite_model.tflite_reader import Model, Operator, Signature, Subgraph, Tensor
from stethoscope.types import Hazard, Layer, Operand, TensorSpec

DEFAULT_SIGNATURE = "serving_default"
_SHOWN_WEIGHTS = 8


def is_weight(tensor: Tensor) -> bool:
    """Whether a tensor counts as parameters.

    The rule: its value is stored in the file, it has at least one dimension, and it is a number the model computes with:
    floating point, quantised (it has a scale), or an integer of at most 8 bits. Scalars (1/255, epsilon) and plain 16 to
    64 bit integers, booleans and strings (shapes, axes, paddings, indices, vocabularies) do not count.
    """
    if tensor.stored_bytes == 0 or not tensor.shape:
        return False
    plain = tensor.dtype.startswith(("float", "bfloat", "complex")) or tensor.dtype in (
        "int8",
        "uint8",
        "int4",
        "uint4",
        "int2",
    )
    return plain or (bool(tensor.quantization) and tensor.dtype not in ("bool", "string"))


def entry_point(model: Model) -> tuple[int, Signature | None]:
    """Returns (subgraph index, signature): "serving_default", else the first signature, else subgraph 0 without one."""
    for signature in model.signatures:
        if signature.key == DEFAULT_SIGNATURE:
            return signature.subgraph, signature
    return (model.signatures[0].subgraph, model.signatures[0]) if model.signatures else (0, None)


def interface(model: Model) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """Returns (inputs, outputs) of the entry point, in the model's order, named as its signature names them."""
    index, signature = entry_point(model)
    subgraph = model.subgraphs[index]
    return (
        _specs(subgraph, subgraph.inputs, signature.inputs if signature else {}),
        _specs(subgraph, subgraph.outputs, signature.outputs if signature else {}),
    )


def argument_indices(model: Model) -> tuple[dict[str, int], dict[str, int]]:
    """Returns (inputs, outputs) as tensor index by the name that `interface` gives it."""
    index, _ = entry_point(model)
    subgraph = model.subgraphs[index]
    inputs, outputs = interface(model)
    return (
        {spec.name: tensor for spec, tensor in zip(inputs, _distinct(subgraph.inputs), strict=True)},
        {spec.name: tensor for spec, tensor in zip(outputs, subgraph.outputs, strict=True)},
    )


def _distinct(indices: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(indices))


def _specs(subgraph: Subgraph, indices: tuple[int, ...], arguments: dict[str, int] | Any) -> tuple[TensorSpec, ...]:
    names: dict[int, list[str]] = {}
    for argument, tensor in arguments.items():
        names.setdefault(tensor, []).append(argument)
    specs: list[TensorSpec] = []
    taken: set[str] = set()
    wanted = indices if indices is not subgraph.inputs else _distinct(indices)
    for position, index in enumerate(wanted):
        tensor = subgraph.tensors[index]
        own = names.get(index, [])
        name = own.pop(0) if own else tensor.name or f"tensor_{index}"
        if name in taken:
            name = f"{name}#{position}"
        taken.add(name)
        specs.append(TensorSpec(name, tensor.shape, tensor.dtype))
    return tuple(specs)


def layer_paths(model: Model) -> dict[tuple[int, int], str]:
    """Returns the path of each operator by (subgraph, operator) index, the entry point's first.

    A path is the name of the operator's first output tensor, which is what converters keep of a layer's name. Operators
    of other subgraphs are below "<subgraph's name>/".
    """
    main, _ = entry_point(model)
    order = [main, *(index for index in range(len(model.subgraphs)) if index != main)]
    paths: dict[tuple[int, int], str] = {}
    taken: set[str] = set()
    for index in order:
        subgraph = model.subgraphs[index]
        prefix = "" if index == main else f"{subgraph_name(model, index)}/"
        for position, operator in enumerate(subgraph.operators):
            outputs = [tensor for tensor in operator.outputs if tensor != -1]
            name = subgraph.tensors[outputs[0]].name if outputs else ""
            path = prefix + (name or f"{operator.type}_{position}")
            while path in taken:
                path = f"{path}_{position}"
            taken.add(path)
            paths[index, position] = path
    return paths


def subgraph_name(model: Model, index: int) -> str:
    """Returns the subgraph's own name where it is unique, else "subgraph_<index>"."""
    name = model.subgraphs[index].name
    alone = bool(name) and sum(subgraph.name == name for subgraph in model.subgraphs) == 1
    return name if alone else f"subgraph_{index}"


def layers(model: Model) -> Iterator[Layer]:
    """Yields the layers in execution order, subgraphs after the entry point.

    Shared weights belong to the first operator that reads them; a buffer shared between subgraphs counts once.
    """
    paths = layer_paths(model)
    names = {index: subgraph_name(model, index) for index in range(len(model.subgraphs))}
    producers = {
        (index, tensor): paths[index, position]
        for index, subgraph in enumerate(model.subgraphs)
        for position, operator in enumerate(subgraph.operators)
        for tensor in operator.outputs
    }
    counted_tensors: set[tuple[int, int]] = set()
    counted_buffers: dict[int, int] = {}
    for (index, position), path in paths.items():
        subgraph = model.subgraphs[index]
        operator = subgraph.operators[position]
        weights = [i for i in _distinct(operator.inputs) if i != -1 and is_weight(subgraph.tensors[i])]
        parameters = 0
        for tensor in weights:
            buffer = subgraph.tensors[tensor].buffer
            if (index, tensor) in counted_tensors or counted_buffers.get(buffer, index) != index:
                continue
            counted_tensors.add((index, tensor))
            counted_buffers[buffer] = index
            parameters += subgraph.tensors[tensor].elements
        outputs = [subgraph.tensors[i] for i in operator.outputs if i != -1]
        sources = (producers.get((index, tensor)) for tensor in operator.inputs)
        yield Layer(
            path=path,
            type=operator.type,
            output_shape=outputs[0].shape if outputs else None,
            parameters=parameters,
            trainable_parameters=0,
            dtype=outputs[0].dtype if outputs else "",
            inputs=tuple(dict.fromkeys(source for source in sources if source is not None)),
            config=_config(operator, [subgraph.tensors[i] for i in weights], outputs, names),
            operands=tuple(
                Operand(producers.get((index, i), ""), subgraph.tensors[i].shape) if i != -1 else Operand("", None)
                for i in operator.inputs
            ),
        )


def weight_bytes(model: Model) -> int:
    """Bytes of all stored constants; a buffer that several tensors share counts once."""
    used = {tensor.buffer for subgraph in model.subgraphs for tensor in subgraph.tensors if tensor.stored_bytes}
    return sum(model.buffers[index].size_bytes for index in used)


def _config(operator: Operator, weights: list[Tensor], outputs: list[Tensor], names: dict[int, str]) -> dict[str, Any]:
    config: dict[str, Any] = dict(operator.config)
    config["version"] = operator.version
    if operator.custom:
        config["custom"] = True
    if operator.calls:
        config["calls"] = {role: [names[i] for i in called] for role, called in operator.calls.items()}
    if weights:
        config["weights"] = [
            {"name": t.name, "shape": list(t.shape or ()), "dtype": t.dtype}
            | ({"quantization": dict(t.quantization)} if t.quantization else {})
            | ({"sparse": True} if t.is_sparse else {})
            for t in weights[:_SHOWN_WEIGHTS]
        ]
    if len(outputs) > 1:
        config["outputs"] = [
            {"name": t.name, "shape": None if t.shape is None else list(t.shape)} for t in outputs[:64]
        ]
    if outputs and outputs[0].quantization:
        config["output_quantization"] = dict(outputs[0].quantization)
    return config


def check(name: str, model: Model) -> None:
    """Refuses what no runtime should be asked to do.

    Raises:
        TooLarge: a tensor, or all constants, declare more bytes than the budget.
        UnsafeFile: subgraphs call each other in a circle or too deeply.
    """
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            if tensor.declared_bytes > damage.MAX_WEIGHT_BYTES:
                raise TooLarge(
                    f"{name}: tensor {tensor.name[:80]!r} of shape {tensor.shape} declares {tensor.declared_bytes:,} bytes, expected "
                    f"at most {damage.MAX_WEIGHT_BYTES:,}. Export the model again."
                )
    calls = {
        i: {c for op in sub.operators for called in op.calls.values() for c in called}
        for i, sub in enumerate(model.subgraphs)
    }
    waiting, depth = {i: set(called) for i, called in calls.items()}, 0
    while waiting:
        done = {i for i, called in waiting.items() if not called}
        depth += 1
        if not done:
            raise UnsafeFile(
                f"{name}: its subgraphs call each other in a circle, so running it would never end. Export it again."
            )
        if depth > damage.MAX_DEPTH:
            raise UnsafeFile(
                f"{name}: its subgraphs call each other more than {damage.MAX_DEPTH} deep. Export it again."
            )
        waiting = {i: called - done for i, called in waiting.items() if i not in done}


def stored_mismatch(model: Model) -> Tensor | None:
    """Returns a constant of which fewer bytes are stored than its shape needs, if there is one; more are no harm to LiteRT."""
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            known = tensor.declared_bytes > 0 and not tensor.is_sparse and None not in (tensor.shape or ())
            if known and tensor.stored_bytes and tensor.stored_bytes < tensor.declared_bytes:
                return tensor
    return None


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
    misplaced = [one for sub in model.subgraphs for one in sub.tensors if one.misplaced_axis is not None]
    if misplaced:
        first = misplaced[0]
        return (
            f"Scales of {len(misplaced):,} of its tensors ({first.name[:80]!r} first) lie along an axis that the tensor does not have "
            f"({first.misplaced_axis} of {len(first.shape or ())}), which LiteRT refuses. Convert the model again with a current "
            "TensorFlow, or run it with TensorFlow Lite Micro, which takes such files."
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


def keeping_state(model: Model) -> tuple[str, ...]:
    """Paths of operators that write what the next call reads: variables, and the state tensors of recurrent layers."""
    found = []
    for (index, position), path in layer_paths(model).items():
        subgraph = model.subgraphs[index]
        operator = subgraph.operators[position]
        held = any(0 <= one < len(subgraph.tensors) and subgraph.tensors[one].is_variable for one in operator.inputs)
        if operator.type == "ASSIGN_VARIABLE" or held:
            found.append(path)
    return tuple(found)
