"""What a TPU cannot do of a model, read from its description: open lengths, and layers or operators without a kernel.

Source: cloud.google.com/tpu/docs/tensorflow-ops (“Available TensorFlow Ops”); the operators are those with an XLA kernel in
TensorFlow 2.21 (`kernels.get_all_registered_kernels`, device XLA_CPU_JIT), and each layer named here was compiled with
jit_compile=True there: what XLA refuses on any device a TPU does not run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from stethoscope.architecture.activations import plain_type
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Layer

_TABLES = "looks its input up in a table of text or numbers (LookupTableFindV2)"
_TURNS = "turns images with ImageProjectiveTransformV3"
_GAMMA = "draws with StatelessRandomGammaV3"
_LAYERS = {
    "textvectorization": "works on text",
    "stringlookup": _TABLES,
    "integerlookup": _TABLES,
    "hashing": "hashes text (AsString, StringToHashBucket)",
    "hashedcrossing": "crosses its inputs with SparseCross",
    "randomtranslation": _TURNS,
    "randomrotation": _TURNS,
    "randomzoom": _TURNS,
    "randomshear": _TURNS,
    "randomperspective": _TURNS,
    "randaugment": _TURNS,
    "augmix": _GAMMA,
    "cutmix": _GAMMA,
    "mixup": _GAMMA,
    "randomelastictransform": "asks for sizes that are known only while it runs",
}
"""By the plain type of a Keras layer, each tried."""
_RESIZINGS = {"bicubic": "ResizeBicubic", "area": "ResizeArea"} | dict.fromkeys(
    ("lanczos3", "lanczos5", "gaussian", "mitchellcubic"), "ScaleAndTranslate"
)
_OWN_CODE = {"lambda": "runs Python of its own", "tfsmlayer": "runs a SavedModel"}
_NO_WORK = frozenset(
    [
        "placeholder",
        "placeholderwithdefault",
        "const",
        "input",
        "inputlayer",
        "variablev2",
        "varhandleop",
        "switch",
        "merge",
        "enter",
        "exit",
        "nextiteration",
        "loopcond",
    ]
)
"""Feeds, variables, and the control flow of TensorFlow 1, which is rewritten before XLA compiles."""


@dataclass(frozen=True)
class WithoutKernel:
    """A layer or operator that a TPU does not run."""

    path: str
    type: str
    reason: str
    certain: bool = True
    """False for what only running it would tell."""


@dataclass(frozen=True)
class OpenAxis:
    """An axis of an input that the model leaves open, apart from the batch."""

    input: str
    axis: int


@dataclass(frozen=True)
class TpuLimits:
    """What stands against a model on a TPU."""

    open_axes: tuple[OpenAxis, ...]
    without_kernel: tuple[WithoutKernel, ...]

    def sentences(self) -> Iterator[str]:
        """Each in words, with what to do."""
        if self.open_axes:
            named = ", ".join(f"axis {axis.axis} of {axis.input}" for axis in self.open_axes[:5])
            yield (
                f"A TPU program has fixed shapes: {named} {'is' if len(self.open_axes) == 1 else 'are'} open. Pad every batch "
                "to one length, or to a few: each is compiled once."
            )
        yield "The batch is fixed too: drop or fill up the last, smaller one."
        for kernel in self.without_kernel[:8]:
            doubt = "has no kernel on a TPU" if kernel.certain else "may have no kernel on a TPU"
            yield f"{kernel.path} ({kernel.type}) {doubt}: it {kernel.reason}. Do that in tf.data, on the host."
        if len(self.without_kernel) > 8:
            yield f"{len(self.without_kernel) - 8} more layers have no kernel on a TPU."


def tpu_limits(architecture: Architecture) -> TpuLimits:
    """Reads a description."""
    open_axes = tuple(
        OpenAxis(spec.name, axis)
        for spec in architecture.inputs
        for axis, size in enumerate(spec.shape or ())
        if axis and size is None
    )
    format_ = format_of(architecture)
    if format_.runtime != "tensorflow":
        return TpuLimits(open_axes, ())
    text = {spec.name for spec in architecture.inputs if spec.dtype == "string"}
    inputs = tuple(WithoutKernel(name, "input", "holds text, which a TPU has no type for") for name in sorted(text))
    found = (_layer(layer) if format_.live else _operator(layer) for layer in architecture.layers)
    return TpuLimits(open_axes, (*inputs, *(item for item in found if item is not None)))


def _layer(layer: Layer) -> WithoutKernel | None:
    plain = plain_type(layer.type)
    if plain in _LAYERS:
        return WithoutKernel(layer.path, layer.type, _LAYERS[plain])
    method = str(layer.config.get("interpolation", "")).lower()
    if plain in ("resizing", "upsampling2d") and method in _RESIZINGS:
        return WithoutKernel(layer.path, layer.type, f"resizes with {_RESIZINGS[method]}")
    if plain in _OWN_CODE:
        return WithoutKernel(layer.path, layer.type, _OWN_CODE[plain], certain=False)
    return None


def _operator(layer: Layer) -> WithoutKernel | None:
    if layer.type in compiled_operators() or plain_type(layer.type) in _NO_WORK:
        return None
    return WithoutKernel(layer.path, layer.type, "is no operator that XLA compiles")


@functools.cache
def compiled_operators() -> frozenset[str]:
    """Names of TensorFlow's operators that have an XLA kernel."""
    file = resources.files("stethoscope.memory.planner") / "xla_operators.txt"
    return frozenset(file.read_text(encoding="ascii").split())
