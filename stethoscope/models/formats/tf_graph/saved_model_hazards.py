"""What a SavedModel says about the parts of its graph that may touch files: its saver, its assets, its entry points."""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.tf_graph.graph_hazards import Context

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
