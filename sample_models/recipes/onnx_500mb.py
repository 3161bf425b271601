"""Half a gigabyte of dense layers, as ONNX."""

from __future__ import annotations

from pathlib import Path

from sample_models import big_dense
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    from onnx import TensorProto, helper, numpy_helper, save_model

    arrays, nodes, initializers, name = big_dense.weights(), [], [], "features"
    for layer, (kernel, bias) in enumerate(zip(arrays[::2], arrays[1::2], strict=True)):
        initializers += [
            numpy_helper.from_array(kernel, f"kernel_{layer}"),
            numpy_helper.from_array(bias, f"bias_{layer}"),
        ]
        result = "scores" if layer == big_dense.LAYERS else f"hidden_{layer}"
        nodes.append(
            helper.make_node("Gemm", [name, f"kernel_{layer}", f"bias_{layer}"], [result], name=f"dense_{layer}")
        )
        name = result
    graph = helper.make_graph(
        nodes,
        "dense",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", big_dense.WIDTH])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 2048])],
        initializers,
    )
    file = folder / "onnx_500mb.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), file)
    return file


RECIPE = Recipe(
    id="onnx_500mb",
    title="Half a gigabyte (ONNX)",
    behaviour="Few operators, 504 MB of weights: for timing uploads and drawings.",
    description="Eight dense layers with random weights.",
    parameters=big_dense.PARAMETERS,
    build=_build,
    big=True,
    expectations={"consistent": True},
)
