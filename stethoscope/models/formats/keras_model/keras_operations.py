"""Which TensorFlow functions and operations a Keras 2 graph may call without being more than arithmetic.

`TFOpLambda` looks up any function TensorFlow exports by name, so file and process access is one string away.
"""

from __future__ import annotations

import re
from typing import Any

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
