"""The Python of a conversion to ONNX done by hand."""

from __future__ import annotations

from stethoscope.compare.convert.options import Options
from stethoscope.compare.convert.python_code import loading
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

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
