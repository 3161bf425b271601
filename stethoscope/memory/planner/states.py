"""Bytes of weights, gradients and optimizer state: what a model needs before a single sample is computed.

How the devices are divided among the kinds of parallelism.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.architecture.model_shape import Recompute
from stethoscope.errors import BadSetting
from stethoscope.types import Architecture


@dataclass(frozen=True)
class Precision:
    """How many bytes each kind of number takes, per parameter or per activation element."""

    id: str
    title: str
    weight_bytes: int
    gradient_bytes: int
    slot_bytes: int
    """One optimizer slot (a momentum, a second moment) of one parameter."""
    master_bytes: int
    """Copies in higher precision that the optimizer keeps: a float32 master weight, and gradient where there is one."""
    activation_bytes: int
    cast_bytes: int
    """A copy of the weight in the compute dtype, made in the forward pass and read again in the backward one."""
    source: str


_KERAS = "Keras 3.15: variables, their gradients and optimizer slots have the dtype policy's variable dtype"
_ALL = (
    Precision("float32", "float32", 4, 4, 4, 0, 4, 0, _KERAS),
    Precision(
        "mixed_float16", "Keras mixed_float16", 4, 4, 4, 0, 2, 2, _KERAS + "; mixed policies keep float32 variables"
    ),
    Precision(
        "mixed_bfloat16", "Keras mixed_bfloat16", 4, 4, 4, 0, 2, 2, _KERAS + "; mixed policies keep float32 variables"
    ),
    Precision("bfloat16", "everything in bfloat16", 2, 2, 2, 0, 2, 0, _KERAS),
    Precision("float16", "everything in float16", 2, 2, 2, 0, 2, 0, _KERAS),
)
PRECISIONS: dict[str, Precision] = {precision.id: precision for precision in _ALL}


@dataclass(frozen=True)
class Optimizer:
    """How many values an optimizer keeps for each trainable parameter."""

    id: str
    title: str
    slots: int
    note: str = ""


_ADAFACTOR = (
    "Keras' Adafactor keeps a full-size velocity beside the factored row and column statistics: it saves one slot against "
    "Adam, not nearly all as the paper's does (keras/src/optimizers/adafactor.py, build)."
)
_MUON = "Counted as Adam, its upper bound: two-dimensional kernels outside embeddings need one slot less."
OPTIMIZERS: dict[str, Optimizer] = {
    optimizer.id: optimizer
    for optimizer in (
        Optimizer("sgd", "SGD", 0),
        Optimizer("momentum", "SGD with momentum", 1),
        Optimizer("adam", "Adam", 2),
        Optimizer("adamw", "AdamW", 2),
        Optimizer("amsgrad", "Adam with amsgrad", 3),
        Optimizer("nadam", "Nadam", 2),
        Optimizer("adamax", "Adamax", 2),
        Optimizer("rmsprop", "RMSprop", 1),
        Optimizer("adagrad", "Adagrad", 1),
        Optimizer("adadelta", "Adadelta", 2),
        Optimizer("adafactor", "Adafactor", 1, _ADAFACTOR),
        Optimizer("ftrl", "Ftrl", 2),
        Optimizer("lamb", "Lamb", 2),
        Optimizer("lion", "Lion", 1),
        Optimizer("muon", "Muon", 2, _MUON),
        Optimizer("schedulefreeadamw", "ScheduleFreeAdamW", 2),
    )
}
"""Slots per parameter. Source: `build` of each optimizer in keras/src/optimizers, 3.15."""


@dataclass(frozen=True)
class StateBytes:
    """Bytes on one device."""

    weights: int
    gradients: int
    optimizer: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.gradients + self.optimizer


def precision(name: str) -> Precision:
    """Returns the precision called `name`.

    Raises:
        BadSetting: there is none.
    """
    known = PRECISIONS.get(name.strip().lower())
    if known is None:
        raise BadSetting(f"Precision {name!r}: expected one of {', '.join(PRECISIONS)}. Correct it.")
    return known


def optimizer(name: str) -> Optimizer:
    """Returns the optimizer called `name`, in any spelling ("AdamW", "rms_prop").

    Raises:
        BadSetting: there is none.
    """
    known = OPTIMIZERS.get(name.strip().lower().replace("_", "").replace("-", "").replace(" ", ""))
    if known is None:
        raise BadSetting(f"Optimizer {name!r}: expected one of {', '.join(OPTIMIZERS)}. Correct it.")
    return known


def compiled_optimizer(name: str, settings: Mapping[str, Any]) -> Optimizer | None:
    """Returns the optimizer a Keras model was compiled with, None for one not known here.

    Args:
        name: its class, for example "SGD".
        settings: its config; momentum, amsgrad, centered, use_ema and gradient_accumulation_steps each add a slot.
    """
    known = OPTIMIZERS.get(name.lower().replace("_", ""))
    if known is None:
        return None
    slots, extras = known.slots, []
    if known.id in ("sgd", "rmsprop") and float(settings.get("momentum") or 0) > 0:
        extras.append("momentum")
    extras += [option for option in ("amsgrad", "centered", "use_ema") if settings.get(option) is True]
    if settings.get("gradient_accumulation_steps"):
        extras.append("gradient accumulation")
    title = f"{known.title} ({', '.join(extras)})" if extras else known.title
    return Optimizer(known.id, title, slots + len(extras), known.note)


def state_bytes(
    parameters: int,
    trainable: int,
    precision: Precision,
    optimizer: Optimizer | None,
    *,
    zero_stage: int = 0,
    devices: int = 1,
) -> StateBytes:
    """Bytes of model states on one of `devices` data-parallel devices.

    Args:
        parameters: of the part of the model that lies on the device.
        trainable: those of them that are trained.
        precision: bytes per number.
        optimizer: None for inference.
        zero_stage: 1 splits the optimizer over the devices, 2 also the gradients, 3 also the weights; 0 none.
        devices: how many share the states.

    Source: ZeRO, arXiv 1910.02054, figure 1 (7.5 B parameters on 64 devices: 120, 31.4, 16.6, 1.88 GB).
    """
    if optimizer is None:
        return StateBytes(parameters * precision.weight_bytes, 0, 0)

    def held(count: int, from_stage: int) -> int:
        return -(-count // devices) if zero_stage >= from_stage else count

    per_parameter = optimizer.slots * precision.slot_bytes + precision.master_bytes
    return StateBytes(
        weights=held(parameters, 3) * precision.weight_bytes,
        gradients=held(trainable, 2) * precision.gradient_bytes,
        optimizer=held(trainable, 1) * per_parameter,
    )


@dataclass(frozen=True)
class Layout:
    """data × tensor × pipeline devices, each a degree of at least 1."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    """Stages of layers one behind the other; more than 1 is arithmetic only."""
    zero: int = 0
    """ZeRO stage over the data-parallel devices, 0 … 3; more than 0 is arithmetic only."""
    recompute: Recompute = "none"
    """What is computed again in the backward pass instead of kept; anything is arithmetic only."""

    @property
    def available(self) -> bool:
        """Whether TensorFlow or Keras can do it."""
        return self.pipeline == 1 and not self.zero and self.recompute == "none"

    @property
    def devices(self) -> int:
        """Devices in use."""
        return self.data * self.tensor * self.pipeline

    @property
    def family(self) -> str:
        """The kind of parallelism without recomputation: "single", "data", "zero2", "tensor+data" …"""
        parts = ["tensor"] if self.tensor > 1 else []
        parts += ["pipeline"] if self.pipeline > 1 else []
        if self.data > 1:
            parts.append(f"zero{self.zero}" if self.zero else "data")
        return "+".join(parts) or "single"

    @property
    def kind(self) -> str:
        """The family, with "+recompute" or "+selective-recompute" where activations are computed again."""
        extra = {"none": "", "selective": "+selective-recompute", "full": "+recompute"}
        return self.family + extra[self.recompute]


_HALF = ("float16", "bfloat16")


def precision_of(architecture: Architecture) -> str:
    """Returns the id of the precision that a file's layers and weights speak of.

    A layer that computes in 16 bits over weights of 32 is Keras' mixed precision; over weights of 16, pure.
    """
    dtypes = Counter(layer.dtype for layer in architecture.layers if layer.parameters)
    half = next((dtype for dtype, _ in dtypes.most_common() if dtype in _HALF), "")
    if not half:
        return "float32"
    each = architecture.weight_bytes / max(1, architecture.parameters)
    kept = 1 + _stored_slots(architecture)
    distance = {
        f"mixed_{half}": min(abs(each - 4), abs(each - 4 * kept)),
        half: min(abs(each - 2), abs(each - 2 * kept)),
    }
    return min(distance, key=lambda name: distance[name])


def _stored_slots(architecture: Architecture) -> int:
    """Values per parameter that a file saved with its optimizer may hold beside the weight."""
    compiled = architecture.compile
    if compiled is None or not compiled.optimizer:
        return 0
    known = compiled_optimizer(compiled.optimizer, {})
    return known.slots if known is not None else 0
