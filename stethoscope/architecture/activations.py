"""What each activation is: its names in every language, what it puts out, where it is flat, what it goes with."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

Range = tuple[float, float]


class Trait(enum.Flag):
    """What other rooms ask of an activation."""

    PROBABILITY = enum.auto()
    """Its values are probabilities: a cross-entropy takes them as they are."""
    LOGITS = enum.auto()
    """`from_logits=True` can work with it: not cut at 0, not bounded on both sides."""
    OVER_AXIS = enum.auto()
    """Its values share a total, or depend on each other otherwise: no function of single values."""
    DIES = enum.auto()
    """Exactly 0, with slope 0, for a whole range of inputs. Source: Lu et al., Dying ReLU and Initialization, 2019."""
    RECTIFIES = enum.auto()
    """About half of its inputs are cut or bent away, so that initial weights have to be larger. Source: He et al., 2015."""
    SLOPE_FROM_OUTPUT = enum.auto()
    """Its derivative is a function of its output, so that the input need not be kept."""


_PLAIN = Trait(0)


@dataclass(frozen=True)
class Activation:
    """One of them, with Keras' default settings."""

    name: str
    """As Keras 3 serialises it."""
    aliases: str = ""
    """Other names, in one spelling (`plain_type`): functions of Keras, operators of ONNX, TensorFlow and TFLite."""
    layer: str = ""
    """The class of Keras that is nothing else."""
    range: Range = (-inf, inf)
    """Smallest and largest value it can put out. Source: keras.io/api/layers/activations."""
    keeps: Range | None = None
    """Inputs that it hands on as they are."""
    flat: tuple[float | None, float | None] | None = None
    """(at or below, at or above): outputs where the slope is below 0.007 (sigmoid and softmax at 0.9933, tanh beyond ±5) or
    exactly 0. A ReLU has no upper end, and its lower one is what `Trait.DIES` is about; a softmax is flat where one unit takes
    all. Source: Glorot & Bengio, AISTATS 2010; sigmoid(5) = 0.9933; Krizhevsky, Convolutional Deep Belief Networks, 2010."""
    shallow: Range | None = None
    """Outputs beyond have a slope below 4 % of the largest. Source: σ' = σ(1−σ) ≤ 0.0099 against 0.25; tanh' = 1 − tanh²."""
    operations: int = 0
    """For each element, as TensorFlow's profiler counts: of activations that are made of counted operations."""
    traits: Trait = _PLAIN


_RECTIFIER = Trait.RECTIFIES | Trait.DIES | Trait.SLOPE_FROM_OUTPUT
_OVER_CLASSES = Trait.PROBABILITY | Trait.OVER_AXIS
_FROM_OUTPUT = Trait.SLOPE_FROM_OUTPUT
LINEAR = Activation("linear", "none identity", keeps=(-inf, inf), traits=Trait.LOGITS)
SIGMOID = Activation(
    "sigmoid",
    "logistic",
    range=(0.0, 1.0),
    flat=(0.0067, 0.9933),
    shallow=(0.01, 0.99),
    traits=Trait.PROBABILITY | _FROM_OUTPUT,
)
SOFTMAX = Activation(
    "softmax", layer="Softmax", range=(0.0, 1.0), flat=(None, 0.9933), operations=5, traits=_OVER_CLASSES | _FROM_OUTPUT
)
TANH = Activation("tanh", range=(-1.0, 1.0), flat=(-0.9999, 0.9999), shallow=(-0.98, 0.98), traits=_FROM_OUTPUT)
RELU = Activation("relu", "", "ReLU", (0.0, inf), (0.0, inf), traits=_RECTIFIER)
LEAKY_RELU = Activation("leaky_relu", layer="LeakyReLU", keeps=(0.0, inf), traits=Trait.RECTIFIES | Trait.LOGITS)
GELU = Activation("gelu", range=(-0.17, inf), operations=4)
SOFTPLUS = Activation("softplus", range=(0.0, inf))
THRESHOLDED_RELU = Activation("thresholded_relu", layer="ThresholdedReLU", range=(0.0, inf), traits=Trait.DIES)
_ALL = (
    LINEAR,
    SIGMOID,
    SOFTMAX,
    TANH,
    RELU,
    LEAKY_RELU,
    GELU,
    SOFTPLUS,
    Activation("relu6", range=(0.0, 6.0), keeps=(0.0, 6.0), flat=(None, 6.0), traits=_RECTIFIER),
    THRESHOLDED_RELU,
    Activation("prelu", layer="PReLU", keeps=(0.0, inf), traits=Trait.RECTIFIES | Trait.LOGITS),
    Activation("elu", "", "ELU", (-1.0, inf), (0.0, inf), traits=Trait.RECTIFIES | _FROM_OUTPUT),
    Activation("celu", range=(-1.0, inf), keeps=(0.0, inf), traits=Trait.RECTIFIES),
    Activation("selu", range=(-1.7581, inf), traits=_FROM_OUTPUT),
    Activation(
        "hard_sigmoid",
        range=(0.0, 1.0),
        flat=(0.0, 1.0),
        shallow=(1e-6, 1 - 1e-6),
        operations=2,
        traits=Trait.PROBABILITY | _FROM_OUTPUT,
    ),
    Activation("hard_tanh", "relun1to1", range=(-1.0, 1.0), keeps=(-1.0, 1.0), flat=(-1.0, 1.0)),
    Activation("softsign", range=(-1.0, 1.0)),
    Activation("silu", "swish", range=(-0.2785, inf), operations=2),
    Activation("hard_silu", "hardswish", range=(-0.375, inf), operations=3),
    Activation("mish", range=(-0.3088, inf), operations=1),
    Activation("exponential", "exp", range=(0.0, inf)),
    Activation("log_softmax", range=(-inf, 0.0), operations=5, traits=Trait.LOGITS | Trait.OVER_AXIS | _FROM_OUTPUT),
    Activation("log_sigmoid", range=(-inf, 0.0), traits=Trait.LOGITS),
    Activation("sparsemax", range=(0.0, 1.0), traits=Trait.OVER_AXIS),
    Activation("sparse_sigmoid", range=(0.0, 1.0)),
    Activation("sparse_plus", range=(0.0, inf)),
    Activation("squareplus", range=(0.0, inf)),
    Activation("hard_shrink"),
    Activation("soft_shrink"),
    Activation("tanh_shrink"),
)
ACTIVATIONS: Mapping[str, Activation] = {activation.name: activation for activation in _ALL}
"""By name."""


def plain_type(name: str) -> str:
    """A name in one spelling: CONV_2D, Conv2D and keras_hub>Conv2D are "conv2d", leaky_relu and LeakyReLU "leakyrelu"."""
    return re.sub(r"[^a-z0-9]", "", name.rsplit(">", 1)[-1].rsplit(".", 1)[-1].lower())


_BY_SPELLING = {
    spelling: activation
    for activation in _ALL
    for spelling in (plain_type(activation.name), *activation.aliases.split())
}
OPERATORS: Mapping[str, Activation] = {
    spelling: activation for spelling, activation in _BY_SPELLING.items() if activation is not LINEAR
}
"""By the type, in one spelling, of layers and operators that are nothing else."""
ACTIVATION_LAYERS = frozenset({"Activation", *(item.layer for item in _ALL if item.layer)})
"""Classes of Keras that are nothing but an activation."""


def known(name: str) -> Activation | None:
    """The activation of that name, alias or operator; None for one that is not known here."""
    return _BY_SPELLING.get(plain_type(name))


def named(trait: Trait) -> frozenset[str]:
    """The names of all that have a trait."""
    return frozenset(activation.name for activation in _ALL if trait in activation.traits)


def _with_range(low: float, high: float) -> frozenset[str]:
    single = [activation for activation in _ALL if Trait.OVER_AXIS not in activation.traits]
    return frozenset(activation.name for activation in single if activation.range == (low, high))


CAN_DIE = named(Trait.DIES)
RECTIFIERS = named(Trait.RECTIFIES)
PROBABILITIES = named(Trait.PROBABILITY)
GATES = _with_range(0.0, 1.0)
"""From 0 to 1 for each value alone: what can open and close a gate."""
SIGNED = _with_range(-1.0, 1.0)
"""From −1 to 1."""
SQUASHING = GATES | SIGNED
"""The slope is below 1 nearly everywhere: at most 0.25 for the sigmoid. Source: Glorot and Bengio (2010)."""
BOUNDED = SQUASHING | {SOFTMAX.name, "sparsemax"}
"""Bounded on both sides by 1."""
UNBOUNDED = frozenset(activation.name for activation in _ALL if inf in map(abs, activation.range))
"""They can grow without limit on one side at least."""
NEVER_NEGATIVE = frozenset(activation.name for activation in _ALL if activation.range[0] >= 0)
RANGES: Mapping[str, Range] = {
    activation.name: activation.range for activation in _ALL if activation.range != (-inf, inf)
}
"""Smallest and largest value, of those that have a bound."""
FLAT_ENDS = {activation.name: activation.flat for activation in _ALL if activation.flat is not None}
SATURATED: Mapping[str, Range] = {
    activation.name: activation.shallow for activation in _ALL if activation.shallow is not None
}
"""Outputs beyond these are saturated."""
