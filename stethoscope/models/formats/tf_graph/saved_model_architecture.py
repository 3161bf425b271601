"""Builds the `Architecture` of a SavedModel from its messages: signature, operators, variables, hazards.

What a SavedModel says about the parts of its graph that may touch files: its saver, its assets, its entry points.

What Keras 2 leaves in a SavedModel about training: `keras_metadata.pb`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stethoscope.errors import TooLarge, UnsafeFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.tf_graph import (
    checkpoint_index,
    graph_hazards,
    graph_layers,
    graph_ops,
    graph_shapes,
    saved_model_files,
    saved_model_serving,
    tf_proto,
)
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph
from stethoscope.models.formats.tf_graph.graph_hazards import Context
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.models.formats.tf_graph.saved_model_serving import Variables
from stethoscope.types import Architecture, CompileSettings, TensorSpec


def architecture(located: Located) -> Architecture:
    """Describes the SavedModel at `located`.

    Raises:
        UnreadableFile: its graph is damaged.
        UnsafeFile: an asset lies outside the model's folder.
        TooLarge: it declares more weights than `limits` allow.
    """
    served = saved_model_serving.serve(located)
    saved, meta, functions, chosen, graph = served.saved, served.meta, served.functions, served.chosen, served.graph
    _check_assets(located, saved.meta_graphs)
    warnings = [*_warnings(located, saved, served.known), *served.notes]
    variables, bundle = served.variables, served.bundle
    held = {name: saved_model_serving.weight_of(variable) for name, variable in served.behind.items()}
    constants = graph_layers.constants(graph)
    frozen = not variables.all and bool(constants)
    layers = graph_layers.layers(graph, functions, held | (constants if frozen else {}), _feeds(chosen))
    total = sum(variable.parameters for variable in variables.all)
    trainable: int | None = sum(variable.parameters for variable in variables.all if variable.trainable)
    bits = sum(variable.parameters * tf_proto.item_bits(variable.dtype) for variable in variables.all)
    if frozen:
        total = sum(layer.parameters for layer in layers)
        bits = sum(weight.bits for weight in constants.values())
        warnings.append("Its weights are constants in the graph, so it is not known which of them were trained.")
    if frozen or not variables.trainable_known:
        trainable = None
    if bits // 8 > damage.MAX_WEIGHT_BYTES:
        raise TooLarge(
            f"{located.file.name}: declares {bits // 8:,} bytes of weights, expected at most {damage.MAX_WEIGHT_BYTES:,}."
        )
    used = sum(layer.parameters for layer in layers)
    if chosen and used != total:
        warnings.append(f"The operators of {chosen.name!r} use {used:,} of the model's {total:,} parameters.")
    if graph.truncated:
        warnings.append("Some function calls are shown as one operator, because the graph is too large to inline.")
    version = meta.meta_info_def.tensorflow_version
    return Architecture(
        format_id="saved_model",
        display_format=_display(located, meta),
        framework_version=f"TensorFlow {version}" if version else "",
        parameters=total,
        trainable_parameters=trainable,
        inputs=_completed_specs(chosen, "in", graph) if chosen else (),
        outputs=_completed_specs(chosen, "out", graph) if chosen else (),
        layers=layers,
        compile=compile_settings(located),
        warnings=tuple(warnings),
        hazards=tuple(hazard for one in saved.meta_graphs for hazard in graph_hazards.find(context(one))),
        weight_bytes=(bits + 7) // 8,
        runnable=_runnable(
            located, bundle, variables, functions, meta.graph_def.node, bool(meta.object_graph_def.nodes)
        ),
        keeps_state=_written(graph),
    )


def _written(graph: FlatGraph) -> tuple[str, ...]:
    """Variables that a call writes to; what TensorFlow 1 initialises and restores stands beside the call, in no function."""
    writes = (
        one for one in graph.operators.values() if one.type in graph_ops.ASSIGNMENTS and one.function and one.inputs
    )
    return tuple(dict.fromkeys(one.inputs[0].operator for one in writes))


def _completed_specs(chosen: saved_model_files.Signature, kind: str, graph: FlatGraph) -> tuple[TensorSpec, ...]:
    """A signature's specs, with the graph's own shape where the signature states none."""
    specs = chosen.inputs if kind == "in" else chosen.outputs
    if all(spec.shape is not None for spec in specs):
        return specs
    shapes = graph_shapes.infer(graph, {name: spec.shape for name, spec in _feeds(chosen).items()})
    found = []
    for index, spec in enumerate(specs):
        tensor = graph.fetches.get(f"{kind}:{spec.name}")
        if chosen.function:
            tensor = list(graph.fetches.values())[index] if kind == "out" and index < len(graph.fetches) else None
        found.append(replace(spec, shape=shapes.get(tensor) if spec.shape is None and tensor else spec.shape))
    return tuple(found)


def _feeds(signature: saved_model_files.Signature | None) -> dict[str, TensorSpec]:
    if signature is None:
        return {}
    if signature.function:
        return {spec.name: spec for spec in signature.inputs}
    specs = {spec.name: spec for spec in signature.inputs}
    return {operator: specs[name] for operator, name in signature.fed.items()}


def _check_assets(located: Located, metas: Sequence[Any]) -> None:
    for meta in metas:
        for asset in meta.asset_file_def:
            parts = asset.filename.replace("\\", "/").split("/")
            if asset.filename.startswith("/") or ".." in parts or "\0" in asset.filename or ":" in parts[0]:
                raise UnsafeFile(
                    f"{located.file.name}: asset {asset.filename[:200]!r} lies outside the model's folder. No honest model needs that; do not run it."
                )


def _warnings(located: Located, saved: Any, known: Sequence[saved_model_files.Signature]) -> list[str]:
    found = []
    if located.others:
        listed = ", ".join(located.others[:5])
        found.append(
            f"Holds {len(located.others) + 1} SavedModels; shown is the one in {located.root or 'the top folder'!r}. Others: {listed}."
        )
    if len(saved.meta_graphs) > 1:
        tags = "; ".join(", ".join(one.meta_info_def.tags) or "no tags" for one in saved.meta_graphs)
        found.append(f"Holds {len(saved.meta_graphs)} graphs ({tags}); shown is the one that serves.")
    if known and known[0].function:
        found.append(f"Has no signatures; shown is its function {known[0].name!r}.")
    if len(known) > 1:
        found.append(f"Shown is {known[0].name!r}. Others: {', '.join(repr(one.name) for one in known[1:])}.")
    if not known:
        found.append("Has neither signatures nor functions, so there is nothing to run.")
    return found


def _runnable(
    located: Located,
    bundle: checkpoint_index.Bundle | None,
    variables: Variables,
    functions: Mapping[str, Any],
    nodes: Sequence[Any],
    needs_index: bool,
) -> str:
    name = located.file.name
    stored = any(size for path, size in located.sizes.items() if path.startswith("variables/"))
    if (variables.all or needs_index) and not stored:
        if located.kind == "file":
            return f"{name}: this is the graph of a SavedModel without its variables. Upload the whole folder as a zip or tar.gz."
        return f"{name}: the folder has no variables/variables.index, without which TensorFlow loads nothing. Pack the whole folder again."
    if bundle is not None and variables.all:
        shards = [
            f"variables/variables.data-{index:05d}-of-{bundle.shards:05d}"
            for index in range(min(bundle.shards, 10_000))
        ]
        missing = [shard for shard in shards if shard not in located.sizes]
        if missing:
            return f"{name}: {missing[0]} is missing, so the weights cannot be read. Pack the whole folder again."
    unknown = graph_ops.unregistered(nodes, functions)
    if unknown:
        return f"{name}: uses operator {unknown[0]!r}, which the installed TensorFlow does not have. Run it where its library is installed."
    return ""


def _display(located: Located, meta: Any) -> str:
    root = meta.object_graph_def.nodes[0].user_object.identifier if meta.object_graph_def.nodes else ""
    if root.startswith("_tf_keras") or "keras_metadata.pb" in located.sizes:
        return "SavedModel (Keras 2)"
    return "SavedModel" if meta.object_graph_def.nodes else "SavedModel (TensorFlow 1)"


_INIT_OPS = ("saved_model_main_op", "legacy_init_op", "saved_model_train_op", "init_op")


def context(meta: Any) -> Context:
    """The `Context` of one meta graph."""
    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    served = [tensor for signature in meta.signature_def.values() for tensor in _tensors(signature)]
    for key in _INIT_OPS:
        if key in meta.collection_def:
            served.extend(meta.collection_def[key].node_list.value)
    assets, bound = _bound(meta.object_graph_def, functions)
    return Context(
        nodes={node.name: node for node in meta.graph_def.node},
        functions=functions,
        save_roots=(meta.saver_def.save_tensor_name,),
        restore_roots=(meta.saver_def.restore_op_name,),
        filename_tensor=meta.saver_def.filename_tensor_name,
        served=tuple(served),
        asset_tensors=frozenset(asset.tensor_info.name.partition(":")[0] for asset in meta.asset_file_def),
        entry_functions=frozenset(meta.object_graph_def.concrete_functions),
        asset_arguments=frozenset(assets),
        bound_arguments=frozenset(bound),
    )


def _tensors(signature: Any) -> list[str]:
    found: list[str] = []
    for info in [*signature.inputs.values(), *signature.outputs.values()]:
        if info.WhichOneof("encoding") == "composite_tensor":
            found.extend(component.name for component in info.composite_tensor.components)
        elif info.WhichOneof("encoding") == "coo_sparse":
            sparse = info.coo_sparse
            found.extend((sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name))
        else:
            found.append(info.name)
    return found


def _bound(graph: Any, functions: dict[str, Any]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(function, argument) pairs bound to an asset, and those bound to anything: captures are a function's last arguments."""
    assets, bound = set(), set()
    for name, saved in graph.concrete_functions.items():
        if name not in functions or not saved.bound_inputs:
            continue
        arguments = functions[name].signature.input_arg
        for argument, index in zip(
            arguments[len(arguments) - len(saved.bound_inputs) :], saved.bound_inputs, strict=False
        ):
            bound.add((name, argument.name))
            if 0 <= index < len(graph.nodes) and graph.nodes[index].WhichOneof("kind") == "asset":
                assets.add((name, argument.name))
    return assets, bound


_METADATA = "keras_metadata.pb"


def compile_settings(located: Located) -> CompileSettings | None:
    """Loss, optimizer, learning rate and metrics as Keras stored them; None when it did not, or they cannot be read."""
    from google.protobuf.message import DecodeError

    size = located.sizes.get(_METADATA, 0)
    if not size or size > damage.MAX_CONFIG_BYTES:
        return None
    try:
        with located.view(_METADATA) as view:
            saved = tf_proto.messages().SavedMetadata.FromString(bytes(view))
        root = next((node.metadata for node in saved.nodes if node.node_path == "root"), "")
        training = json.loads(root).get("training_config") if root else None
    except (DecodeError, ValueError, RecursionError, AttributeError):
        return None
    if not isinstance(training, Mapping):
        return None
    optimizer = training.get("optimizer_config")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    rate = config.get("learning_rate") if isinstance(config, Mapping) else None
    return CompileSettings(
        loss=_name(training.get("loss")),
        optimizer=str(optimizer.get("class_name")) if isinstance(optimizer, Mapping) else None,
        learning_rate=float(rate) if isinstance(rate, int | float) else None,
        metrics=tuple(_names(training.get("metrics"))),
    )


def _names(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return [] if value is None else [_name(value)]


def _name(value: Any) -> Any:
    """The short name of a serialized loss or metric."""
    if isinstance(value, Mapping) and "class_name" in value:
        config = value.get("config")
        return (
            config["name"]
            if isinstance(config, Mapping) and isinstance(config.get("name"), str)
            else value["class_name"]
        )
    return value
