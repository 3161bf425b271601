"""What is part of Keras: exact (module, class) names that a model file may mention without holding foreign code.

The lists are data (`keras_builtins.json`), made from the installed keras and tf_keras by

    python -m stethoscope.models.formats.keras_model.keras_builtins

so that describing a file imports neither.

Which TensorFlow functions and operations a Keras 2 graph may call without being more than arithmetic.

`TFOpLambda` looks up any function TensorFlow exports by name, so file and process access is one string away.

Layers that Keras defines for its applications and does not export: a file that uses them needs them by name. Worker only.

Writes a live Keras model to a file and loads it from there. Imported only in a worker.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from stethoscope.types import ModelFile

_DATA = Path(__file__).with_name("keras_builtins.json")
RUNS_CODE = frozenset({"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})
"""Part of Keras, but made to run code or load files that the model brings."""
_CLASS_SPACES = (
    "activations constraints dtype_policies initializers layers losses metrics models optimizers optimizers.schedules "
    "optimizers.legacy quantizers random regularizers mixed_precision distillation"
)
_FUNCTION_SPACES = "activations losses metrics"


@functools.cache
def _data() -> dict[str, frozenset[str]]:
    with _DATA.open(encoding="utf-8") as stream:
        return {key: frozenset(value) for key, value in json.load(stream).items()}


def is_builtin_class(class_name: str, module: str | None, registered_name: str | None) -> bool:
    """Whether a serialized object is a class of Keras: by exact module and name where the file gives a module."""
    if module:
        return f"{module}.{class_name}" in _data()["classes"]
    if registered_name and registered_name != class_name and registered_name not in _data()["names"]:
        return False
    return class_name in _data()["names"]


class Named(Protocol):
    """Anything that a file gives a class to."""

    class_name: str
    module: str | None
    registered_name: str | None


def is_builtin(entry: Named) -> bool:
    """Whether a layer of a network is Keras' own."""
    return is_builtin_class(entry.class_name, entry.module, entry.registered_name)


def is_builtin_function(name: str, module: str | None) -> bool:
    """Whether a function reference is an activation, loss or metric of Keras."""
    if module in (None, "", "builtins"):
        return name in _data()["function_names"]
    return f"{module}.{name}" in _data()["functions"]


def is_operation_name(class_name: str) -> bool:
    """Whether Keras 3 has an operation (not a layer) of this name."""
    return class_name in _data()["operations"]


def layer_by_key(key: str) -> str:
    """Returns the class behind a weight group's key ("multi_head_attention_1" → "MultiHeadAttention"), or ""."""
    from stethoscope.models.formats.keras_model.keras_parameters import snake_case

    head, _, tail = key.rpartition("_")
    stem = head if head and tail.isdigit() else key
    layers = (
        name.removeprefix("keras.layers.") for name in sorted(_data()["classes"]) if name.startswith("keras.layers.")
    )
    return next((name for name in layers if snake_case(name) == stem), "")


def collect() -> dict[str, list[str]]:
    """Lists what the installed keras and tf_keras export; imports both."""
    import keras
    import tf_keras

    classes: set[str] = set()
    functions: set[str] = set()
    for package, aliases in ((keras, ("keras",)), (tf_keras, ("keras", "tf_keras", "tensorflow.keras"))):
        for space in ("", *_CLASS_SPACES.split()):
            for name, thing in _members(package, space):
                if inspect.isclass(thing) and _is_serializable(thing) and name not in RUNS_CODE:
                    public = [f"{alias}.{space}".rstrip(".") + f".{name}" for alias in aliases]
                    classes.update([*public, f"{thing.__module__}.{thing.__name__}"])
        for space in _FUNCTION_SPACES.split():
            for name, thing in _members(package, space):
                if inspect.isfunction(thing) and name not in ("get", "serialize", "deserialize"):
                    functions.update(f"{alias}.{space}.{name}" for alias in aliases)
                    functions.add(f"{thing.__module__}.{name}")
    for prefix in (
        "keras.src.ops",
        "keras.src.layers",
        "keras.src.models",
        "keras.src.applications",
        "tf_keras.src.layers",
        "tf_keras.src.engine",
        "tf_keras.src.applications",
        "tensorflow.python.ops.init_ops",
    ):
        classes.update(_internal(prefix))
    # Keras 2 itself wrote the same paths under its own name, and before 2.13 without "src".
    for name in [name for name in classes if name.startswith("tf_keras.src.")]:
        classes.update({name.removeprefix("tf_"), name.replace("tf_keras.src.", "keras.")})
    classes = {name for name in classes if name.rsplit(".", 1)[-1] not in RUNS_CODE}
    operations = {name.rsplit(".", 1)[-1] for name in _internal("keras.src.ops")}
    return {
        "operations": sorted(operations),
        "classes": sorted(classes),
        "names": sorted(
            {name.rsplit(".", 1)[-1] for name in classes} | {"Model", "Policy"} | set(_registered(tf_keras))
        ),
        "functions": sorted(functions),
        "function_names": sorted({name.rsplit(".", 1)[-1] for name in functions}),
    }


def _registered(package: Any) -> Iterator[str]:
    """Names under which tf_keras registers its own classes, such as "Custom>Adam"."""
    for name, thing in package.saving.get_custom_objects().items():
        if inspect.isclass(thing) and thing.__module__.startswith("tf_keras.") and thing.__name__ not in RUNS_CODE:
            yield name


def _members(package: Any, space: str) -> list[tuple[str, Any]]:
    thing = package
    for part in filter(None, space.split(".")):
        thing = getattr(thing, part, None)
    return [] if thing is None else [(name, getattr(thing, name)) for name in dir(thing) if not name.startswith("_")]


def _is_serializable(thing: type) -> bool:
    return hasattr(thing, "from_config") and hasattr(thing, "get_config")


def _internal(prefix: str) -> Iterator[str]:
    for name in sorted(module for module in sys.modules if module.startswith(prefix) and not module.endswith("_test")):
        for class_name, thing in inspect.getmembers(sys.modules[name], inspect.isclass):
            if thing.__module__ == name and _is_serializable(thing) and not class_name.startswith("_"):
                yield f"{name}.{class_name}"


_words = re.compile(r"\w+").findall

_SPACES = frozenset(
    _words("math nn linalg strings image signal sparse ragged bitwise random quantization experimental numpy autodiff")
)
_FORBIDDEN = re.compile(
    r"file|load|save|write|read|py_func|numpy_function|print|record|dataset|decode_and|parse_|immutable|callback|library",
    re.I,
)
_TOP_LEVEL = frozenset(
    _words(
        "abs acos acosh add add_n argmax argmin argsort asin asinh assert as_string atan atan2 atanh batch_to_space "
        "boolean_mask broadcast_dynamic_shape broadcast_static_shape broadcast_to bitcast cast ceil "
        "clip_by_global_norm clip_by_norm clip_by_value complex concat constant convert_to_tensor cos cosh cumsum div "
        "divide dynamic_partition dynamic_stitch edit_distance eig eigvals einsum ensure_shape equal exp expand_dims "
        "expm1 eye fill fingerprint floor floordiv floormod foldl gather gather_nd gather_v2 greater greater_equal "
        "grad_pass_through guarantee_const histogram_fixed_width identity identity_n invert_permutation is_nan less "
        "less_equal linspace log log1p logical_and logical_not logical_or logical_xor lrtc matmul matrix_band_part "
        "matrix_diag matrix_transpose maximum meshgrid minimum mod multiply negative no_op norm not_equal one_hot "
        "ones ones_like pad pow range rank realdiv real repeat reduce_all reduce_any reduce_logsumexp reduce_max "
        "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance required_space_to_batch_paddings "
        "reshape reverse reverse_sequence roll round rsqrt saturate_cast scalar_mul scatter_nd searchsorted "
        "segment_max sequence_mask shape shape_n sigmoid sign sin sinh size slice sort space_to_batch "
        "space_to_batch_nd space_to_depth depth_to_space split sqrt square squared_difference squeeze stack "
        "stop_gradient strided_slice subtract sum switch_case tan tanh tensor_scatter_nd_add tensor_scatter_nd_max "
        "tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile to_float to_double "
        "to_int32 to_int64 transpose truediv truncatediv truncatemod truncated_normal random_normal random_uniform "
        "unique unique_with_counts unstack where where_v2 zeros zeros_like floor_div arg_max arg_min log_sigmoid erf"
    )
)
_NODE = re.compile(
    r"^(Add|AddV2|AddN|Sub|Mul|Div|RealDiv|FloorDiv|DivNoNan|TruncateDiv|FloorMod|Mod|Pow|Maximum|Minimum|SquaredDifference|BiasAdd|Neg|Abs|"
    r"Exp|Expm1|Log|Log1p|Sqrt|Rsqrt|Square|Sin|Cos|Tan|Tanh|Sinh|Cosh|Asin|Acos|Atan|Atan2|Sigmoid|Relu|Relu6|Elu|Selu|LeakyRelu|Softplus|Softsign|"
    r"Softmax|LogSoftmax|Erf|Floor|Ceil|Round|Rint|Sign|Reciprocal|Inv|Cast|Identity|IdentityN|StopGradient|IsNan|IsInf|IsFinite|Equal|NotEqual|"
    r"Greater|GreaterEqual|Less|LessEqual|LogicalAnd|LogicalOr|LogicalNot|Select|SelectV2|Where|Mean|Sum|Max|Min|Prod|All|Any|ArgMax|ArgMin|"
    r"MatMul|BatchMatMul|BatchMatMulV2|BatchMatMulV3|Einsum|Transpose|Reshape|ExpandDims|Squeeze|ConcatV2|Concat|Pack|Unpack|Split|SplitV|"
    r"Slice|StridedSlice|Gather|GatherV2|GatherNd|ScatterNd|Tile|Pad|PadV2|MirrorPad|OneHot|Range|Fill|Shape|ShapeN|Size|Rank|Cumsum|Cumprod|"
    r"TopK|TopKV2|ReverseV2|Reverse|ReverseSequence|ClipByValue|L2Loss|Conv2D|DepthwiseConv2dNative|MaxPool|AvgPool|ResizeBilinear|"
    r"ResizeNearestNeighbor|SpaceToDepth|DepthToSpace|SpaceToBatchND|BatchToSpaceND|BroadcastTo|ZerosLike|OnesLike|Xlogy|Unique|InvertPermutation|"
    r"MatrixBandPart|MatrixDiagV3|LinSpace|CropAndResize|NonMaxSuppressionV3|FusedBatchNormV3|RandomUniform|RandomStandardNormal)$"
)


def is_arithmetic(symbol: str) -> bool:
    """Whether `tf.<symbol>` only computes with tensors."""
    parts = symbol.removeprefix("compat.v1.").removeprefix("compat.v2.").split(".")
    if _FORBIDDEN.search(symbol):
        return False
    if len(parts) == 1:
        return parts[0] in _TOP_LEVEL
    return (
        parts[0] in _SPACES
        or parts[0] == "__operators__"
        or parts[:2] == ["keras", "backend"]
        or parts[:2] == ["keras", "activations"]
    )


def is_arithmetic_node(node_def: Any) -> bool:
    """Whether a serialized NodeDef (JSON text, protobuf text, or a dict) is of an operation that only computes."""
    if isinstance(node_def, dict):
        operation = node_def.get("op")
    elif isinstance(node_def, str):
        found = re.search(r'"?\bop"?\s*:\s*"([A-Za-z0-9_]+)"', node_def)
        operation = found.group(1) if found else None
    else:
        operation = None
    return isinstance(operation, str) and bool(_NODE.match(operation))


_MODULES = ("convnext", "inception_resnet_v2")


def own_layers(keras: Any) -> dict[str, Any]:
    """Custom objects of a package (`keras` or `tf_keras`): LayerScale, CustomScaleLayer and the like, by class name."""
    found: dict[str, Any] = {}
    for name in _MODULES:
        module = importlib.import_module(f"{keras.__name__}.src.applications.{name}")
        for thing in vars(module).values():
            if (
                isinstance(thing, type)
                and issubclass(thing, keras.layers.Layer)
                and thing.__module__ == module.__name__
            ):
                found[thing.__name__] = thing
    return found


_OLD_SUFFIXES = (".h5", ".hdf5")


def saved_and_loaded(file: ModelFile, model: Any, keras: Any, folder: Path, *, trusted: bool) -> Any:
    """Returns the model that comes back from a file in `folder`; the file is removed again.

    Args:
        file: where the model came from: an `.h5` file is saved as `.h5`, everything else as `.keras`.
        model: the live model.
        keras: the package it is of.
        folder: where the file is written.
        trusted: whether code inside the model may be run when it is loaded.

    Raises:
        Exception: whatever Keras or a class of the model's own raises when it cannot be saved or rebuilt.
    """
    path = folder / ("saved.h5" if file.suffix in _OLD_SUFFIXES else "saved.keras")
    try:
        model.save(path)
        return keras.models.load_model(path, custom_objects=own_layers(keras), compile=False, safe_mode=not trusted)
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    _DATA.write_text(json.dumps(collect(), indent=0) + "\n", encoding="utf-8")
