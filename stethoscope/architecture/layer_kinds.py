"""What a layer or operator does to memory: which tensors its backward pass reads, whether it works in place."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from stethoscope.architecture.activations import LINEAR, OPERATORS, Trait, known, named, plain_type


class Kind(enum.StrEnum):
    """The families that planning tells apart."""

    INPUT = "input"
    ATTENTION = "attention"
    TRANSFORMER = "transformer block"
    EMBEDDING = "embedding"
    DENSE = "dense"
    CONVOLUTION = "convolution"
    RECURRENT = "recurrent"
    NORMALIZATION = "normalization"
    POOLING = "pooling"
    AVERAGE = "average pooling"
    DROPOUT = "dropout"
    ACTIVATION = "activation"
    MERGE = "merge"
    PRODUCT = "product"
    RESHAPE = "reshape"
    COPY = "copy"
    OTHER = "other"


_NAMES: dict[Kind, str] = {
    Kind.INPUT: "inputlayer input placeholder",
    Kind.ATTENTION: "multiheadattention cachedmultiheadattention groupedqueryattention groupqueryattention attention "
    "additiveattention multiheadselfattention",
    Kind.TRANSFORMER: "transformerencoder transformerdecoder transformerencoderblock transformerdecoderblock "
    "transformerlayer transformerblock",
    Kind.EMBEDDING: "embedding reversibleembedding tokenandpositionembedding positionembedding "
    "embeddinglookup resourcegather",
    Kind.DENSE: "dense einsumdense gemm fullyconnected qdense",
    Kind.RECURRENT: "lstm gru simplernn rnn bidirectional cudnnlstm cudnngru unidirectionalsequencelstm",
    Kind.NORMALIZATION: "batchnormalization layernormalization groupnormalization unitnormalization "
    "rmsnormalization spectralnormalization fusedbatchnorm fusedbatchnormv2 fusedbatchnormv3 instancenormalization "
    "l2normalization localresponsenormalization lrn simplifiedlayernormalization skiplayernormalization "
    "batchnormalizationv1 batchnormalizationv2 syncbatchnormalization",
    Kind.DROPOUT: "dropout spatialdropout1d spatialdropout2d spatialdropout3d gaussiandropout gaussiannoise alphadropout",
    Kind.ACTIVATION: " ".join(("activation qactivation erf clip clipbyvalue", *OPERATORS)),
    Kind.MERGE: "add addv2 addn sub subtract average biasadd residualadd",
    Kind.PRODUCT: "multiply mul dot matmul batchmatmul batchmatmulv2 batchmatmulv3 einsum div divide realdiv pow "
    "square sqrt rsqrt exp log maximum minimum",
    Kind.RESHAPE: "reshape flatten identity squeeze unsqueeze expanddims rescaling cast readvariableop stopgradient",
    Kind.COPY: "concatenate concat concatv2 concatenation permute transpose repeatvector cropping1d cropping2d cropping3d "
    "zeropadding1d zeropadding2d zeropadding3d pad padv2 upsampling1d upsampling2d upsampling3d slice stridedslice "
    "getitem split splitv gather gatherv2 pack stack unpack tile resizebilinear resizenearestneighbor resize masking "
    "notequal equal greater less shape cumsum oneslike zeroslike meanop mean reducemean sum reducesum space2depth "
    "depth2space randomflip randomrotation randomzoom normalization categoryencoding stringlookup textvectorization constantofshape fill range expand broadcastto quantize "
    "dequantize quantizelinear dequantizelinear switch merge enter exit nextiteration argmax floor floordiv floormod",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}

_SLOPE_FROM_OUTPUT = frozenset(map(plain_type, named(Trait.SLOPE_FROM_OUTPUT)))
_ACTIVATION_WORDS = ("activation", *(name for name in OPERATORS if name != "exp"))
_COUNTED_AT_ONE_INPUT = {
    Kind.DENSE,
    Kind.CONVOLUTION,
    Kind.NORMALIZATION,
    Kind.EMBEDDING,
    Kind.POOLING,
    Kind.AVERAGE,
    Kind.DROPOUT,
}


def kind_of(type_name: str, parameters: int) -> Kind:
    """Returns the family of a layer or operator by its type; a product with weights of its own is dense."""
    name = plain_type(type_name)
    kind = _KINDS.get(name)
    if kind is None and ("conv" in name or name in ("depthwise", "transposeconv")):
        kind = Kind.CONVOLUTION
    if kind is None and "pool" in name:
        kind = Kind.POOLING if "max" in name else Kind.AVERAGE
    if kind is None and "norm" in name:
        kind = Kind.NORMALIZATION
    if kind is None and "embedding" in name:
        kind = Kind.EMBEDDING
    if kind is Kind.CONVOLUTION and "lstm" in name:
        kind = Kind.RECURRENT
    if kind is Kind.PRODUCT and parameters and name in ("matmul", "batchmatmul", "batchmatmulv2", "einsum"):
        kind = Kind.DENSE
    return kind or Kind.OTHER


def names_activation(type_name: str) -> bool:
    """Whether a layer is an activation by its type, or by one in the name of its class: MyReLU, FusedTanh."""
    name = plain_type(type_name)
    return kind_of(name, 0) is Kind.ACTIVATION or any(word in name for word in _ACTIVATION_WORDS)


def activation_of(type_name: str, kind: Kind, config: Mapping[str, Any]) -> str:
    """Returns the non-linearity a layer applies, "" for none: an activation layer is its own."""
    name = plain_type(type_name)
    if kind is Kind.ACTIVATION and name not in ("activation", "qactivation"):
        return plain_type(OPERATORS[name].name) if name in OPERATORS else name
    value = config.get("activation", config.get("fusedActivationFunction", ""))
    if isinstance(value, Mapping):
        value = value.get("class_name", "")
    text = str(value or "")
    activation = known(text)
    return plain_type(text if activation is None else "" if activation is LINEAR else activation.name)


def reads_input(kind: Kind, activation: str) -> bool:
    """Whether the backward pass through this layer reads what went in, when it has or passes on a gradient."""
    if kind is Kind.ACTIVATION:
        return activation not in _SLOPE_FROM_OUTPUT
    return kind in {
        Kind.ATTENTION,
        Kind.TRANSFORMER,
        Kind.EMBEDDING,
        Kind.DENSE,
        Kind.CONVOLUTION,
        Kind.RECURRENT,
        Kind.NORMALIZATION,
        Kind.PRODUCT,
        Kind.POOLING,
        Kind.OTHER,
    }


def reads_output(kind: Kind, activation: str) -> bool:
    """Whether the backward pass through this layer reads what came out."""
    if kind in {Kind.ACTIVATION, Kind.DENSE, Kind.CONVOLUTION, Kind.NORMALIZATION}:
        return activation in _SLOPE_FROM_OUTPUT
    return kind in {Kind.POOLING, Kind.RECURRENT, Kind.OTHER}


def keeps_before_activation(kind: Kind, activation: str) -> bool:
    """Whether a fused activation (gelu, swish) makes the backward pass read the value before it."""
    return kind in {Kind.DENSE, Kind.CONVOLUTION} and bool(activation) and activation not in _SLOPE_FROM_OUTPUT


def is_alias(kind: Kind) -> bool:
    """Whether the output is the input under another shape: nothing is allocated, nothing stored."""
    return kind is Kind.RESHAPE


def works_in_place(kind: Kind) -> bool:
    """Whether TensorFlow may write the output over an input nobody else reads (buffer forwarding)."""
    return kind in {Kind.ACTIVATION, Kind.MERGE, Kind.PRODUCT, Kind.DROPOUT}


def calls(kind: Kind, input_calls: int) -> int:
    """How often a layer is called: one that takes a single tensor runs once for each it is given (shared layers).

    Args:
        kind: of the layer.
        input_calls: how many tensors its sources make together.
    """
    one_input = kind in _COUNTED_AT_ONE_INPUT or kind in (Kind.RESHAPE, Kind.ACTIVATION)
    return max(1, input_calls) if one_input else 1
