"""Work of operators in graphs: TensorFlow's, TFLite's and ONNX', which share most of their meaning and little of their spelling."""

from __future__ import annotations

import math

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_work import Given, Rule, Unknown, Work, einsum_macs, elements, per_element
from stethoscope.architecture.windows import window_of


def _fused(given: Given, elements_made: int) -> Work:
    """What TFLite computes at the end of an operator."""
    name = plain_type(str(given.config.get("fusedActivationFunction", "")))
    return Work(0, per_element(name) * elements_made)


_BIAS_AT = {"qlinearconv": 8, "convinteger": None}
"""Which operand is the bias, where it is not the third: those hold scales and zero points before it, or instead."""


def _has_bias(given: Given) -> bool:
    at = _BIAS_AT.get(given.kind, 2)
    return at is not None and len(given.operands) > at and given.operands[at] is not None


def _matmul(given: Given) -> Work:
    left, right = given.read(0), given.read(1)
    turned = any(given.config.get(key) for key in ("transpose_a", "adj_x", "adjX"))
    inner = left[-2] if turned and len(left) > 1 else left[-1]
    if right[-1] != inner and (len(right) < 2 or right[-2] != inner):
        raise Unknown("the sizes of its two factors do not fit")
    return Work(elements(given.made()) * inner)


def _gemm(given: Given) -> Work:
    left, made = given.read(0), elements(given.made())
    inner = left[-2] if given.config.get("transA") else left[-1]
    return Work(made * inner, made if _has_bias(given) else 0)


def _fully_connected(given: Given) -> Work:
    weights, made = given.read(1), elements(given.made())
    return Work(made * weights[-1], made if _has_bias(given) else 0) + _fused(given, made)


def _einsum(given: Given) -> Work:
    return Work(einsum_macs(str(given.config.get("equation", "")), given))


def _conv(given: Given) -> Work:
    """The kernel's own shape says how many inputs each output adds up: all its sizes but that of the outputs."""
    kernel, made = given.read(3 if given.kind == "qlinearconv" else 1), elements(given.made())
    is_onnx = given.kind in ("conv", "convinteger", "qlinearconv", "fusedconv")
    tflite = "fusedActivationFunction" in given.config
    outputs = kernel[0] if is_onnx or (tflite and given.kind == "conv2d") else kernel[-1]
    bias = made if _has_bias(given) and (is_onnx or tflite) else 0
    return Work(made * (elements(kernel) // max(1, outputs)), bias) + _fused(given, made)


def _depthwise(given: Given) -> Work:
    kernel, made = given.read(1), elements(given.made())
    area = math.prod(kernel[1:3]) if "fusedActivationFunction" in given.config else math.prod(kernel[:2])
    bias = made if _has_bias(given) and "fusedActivationFunction" in given.config else 0
    return Work(made * area, bias) + _fused(given, made)


def _transposed(given: Given) -> Work:
    """Each input value is multiplied with the kernel of every output channel it contributes to."""
    if given.kind == "convtranspose":
        read, kernel = given.read(0), given.read(1)
        return Work(
            elements(read) * elements(kernel) // max(1, kernel[0]), elements(given.made()) if _has_bias(given) else 0
        )
    read, kernel = given.read(2), given.read(1)
    inside = kernel[-1]
    bias = elements(given.made()) if len(given.operands) > 3 and given.operands[3] is not None else 0
    return Work(elements(read) * elements(kernel) // max(1, inside), bias) + _fused(given, elements(given.made()))


def _pooling(given: Given) -> Work:
    window = window_of(given.layer)
    if window is None:
        raise Unknown("its window is not in the file")
    return Work(0, elements(given.made()) * math.prod(window.kernel))


def _elementwise(given: Given) -> Work:
    made = elements(given.made())
    if given.kind in ("addn", "sum", "max", "min", "mean") and len(given.operands) != 2:
        return Work(0, max(0, len(given.operands) - 1) * made)
    return Work(0, made) + _fused(given, made)


def _two_each(given: Given) -> Work:
    return Work(0, 2 * elements(given.made()))


def _reduction(given: Given) -> Work:
    read = elements(given.read())
    return Work(0, read + (elements(given.made()) if "mean" in given.kind or "average" in given.kind else 0))


def _merge_or_reduce(given: Given) -> Work:
    """ONNX calls both "Sum", TensorFlow and ONNX "Mean", "Max" and "Min"."""
    onnx = given.layer.config.get("keep_dims") is None and given.layer.config.get("keepDims") is None
    merges = onnx and all(size is None or size == given.output or len(size) > 1 for size in given.operands)
    return _elementwise(given) if merges and len(given.operands) > 1 else _reduction(given)


def _activation(given: Given) -> Work:
    return Work(0, per_element(given.kind) * elements(given.made()))


def _layer_norm(given: Given) -> Work:
    return Work(0, 5 * elements(given.made()))


def _onnx_recurrent(given: Given) -> Work:
    """Steps × batch, both directions, every gate: input and recurrent weights once each, by their own shapes."""
    read, weights, state = given.read(0), given.read(1), given.read(2)
    rows = read[0] * read[1]
    gates = {"lstm": 12, "gru": 11, "rnn": 2}[given.kind]
    units = state[-1] * state[0]
    return Work(rows * (elements(weights) + elements(state)), rows * units * gates)


def _sequence_lstm(given: Given) -> Work:
    read = given.read(0)
    rows = read[0] * read[1]
    kernels = [size for size in given.operands[1:9] if size is not None]
    if not kernels:
        raise Unknown("its weights are not in the file")
    return Work(rows * sum(elements(size) for size in kernels), rows * 12 * kernels[-1][0])


def _sequence_rnn(given: Given) -> Work:
    rows = elements(given.read(0)[:-1])
    return Work(rows * (elements(given.read(1)) + elements(given.read(2))), 2 * rows * given.read(1)[0])


def _svdf(given: Given) -> Work:
    read, features, times = given.read(0), given.read(1), given.read(2)
    made = elements(given.made())
    return Work(read[0] * (elements(features) + elements(times)), made)


def _nothing(given: Given) -> Work:
    return Work()


def _names(text: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(text.split(), rule)


_MOVING = (
    "input placeholder placeholderwithdefault reshape squeeze unsqueeze expanddims flatten identity identityn transpose concat "
    "concatv2 concatenation pack stack unpack unstack split splitv slice stridedslice gather gatherv2 gathernd gatherelements "
    "resourcegather embeddinglookup pad padv2 mirrorpad tile expand broadcastto shape shapeof size rank cast constant constantofshape fill "
    "range zeroslike oneslike zeros ones onehot resize resizebilinear resizenearestneighbor upsample spacetodepth depthtospace "
    "spacetobatchnd batchtospacend reverse reversev2 reversesequence where select selectv2 dropout stopgradient getitem bitcast "
    "take swapaxes moveaxis quantize dequantize scatternd scatterelements shuffle randomuniform randomnormal randomstandardnormal "
    "randomuniformint multinomial invertpermutation diag matrixdiag eyelike trilu compress varhandle readvariable assignvariable "
    "callonce noop assert print"
)
_FREE = (
    "relu relu6 relun1to1 leakyrelu prelu elu selu celu thresholdedrelu sigmoid logistic tanh erf erfc exp exp2 expm1 sqrt abs sign floor "
    "ceil round sin cos tan asin acos atan softplus softsign logicaland logicalor logicalnot and or not xor isnan isinf isfinite "
    "log1p fakequantwithminmaxvars fakequantwithminmaxvarsperchannel bitshift cumsum rint"
)
_ONE = (
    "add addv2 sub subtract mul multiply div divide realdiv truedivide biasadd maximum minimum pow power neg negative "
    "square reciprocal log equal notequal greater greaterequal greaterorequal less lessequal lessorequal floordiv floormod mod divnonan xdivy mulnonan addn"
)
RULES: dict[str, Rule] = {
    **_names(_MOVING, _nothing),
    **_names(_FREE, _nothing),
    **_names(_ONE, _elementwise),
    **_names("rsqrt squareddifference quantizelinear dequantizelinear", _two_each),
    **_names("softmax logsoftmax silu swish gelu hardsigmoid hardswish mish clip clipbyvalue", _activation),
    **_names("matmul batchmatmul batchmatmulv2 batchmatmulv3 matmulinteger", _matmul),
    **_names(
        "reducesum reducemean reducemax reducemin reduceprod reducel1 reducel2 reducesumsquare reducelogsumexp argmax argmin all any prod",
        _reduction,
    ),
    **_names("sum mean max min", _merge_or_reduce),
    **_names("conv conv2d conv3d fusedconv convinteger qlinearconv fusedconv2d", _conv),
    **_names("depthwiseconv2d depthwiseconv2dnative", _depthwise),
    **_names(
        "convtranspose transposeconv conv2dbackpropinput conv3dbackpropinputv2 conv2dbackpropinputv2", _transposed
    ),
    **_names(
        "maxpool maxpool2d averagepool averagepool2d avgpool maxpoolv2 maxpool3d avgpool3d l2pool2d lppool", _pooling
    ),
    **_names("globalaveragepool globalmaxpool globallppool", _reduction),
    **_names("batchnormalization fusedbatchnorm fusedbatchnormv2 fusedbatchnormv3", _two_each),
    **_names("layernormalization instancenormalization groupnormalization simplifiedlayernormalization", _layer_norm),
    **_names("lstm gru rnn", _onnx_recurrent),
    **_names("unidirectionalsequencelstm", _sequence_lstm),
    **_names("unidirectionalsequencernn", _sequence_rnn),
    "gemm": _gemm,
    "fullyconnected": _fully_connected,
    "einsum": _einsum,
    "xlaeinsum": _einsum,
    "svdf": _svdf,
}
"""By the operator's type in one spelling. Operators that are not here (loops, custom ones) have no known work."""
