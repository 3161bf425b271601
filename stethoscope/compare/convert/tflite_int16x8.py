"""TFLite with 8-bit weights and 16-bit activations.

Operators that TensorFlow's older quantiser, which makes 16×8, stumbles over, written as others that mean the same.

It asks for the range of whole numbers that are compared, and only floats get one while rows are run: every mask and every index
would end the conversion. It makes a 16-bit SquaredDifference that LiteRT has no kernel for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stethoscope.compare.convert.converter import Options
from stethoscope.compare.convert.graph_rewriting import Last, Writer, rewrite
from stethoscope.compare.convert.tflite_making import Precision, ToTFLite

_FLOAT32, _INT32, _INT64, _BOOL = 1, 3, 9, 10
"""Numbers of TensorFlow's dtypes."""


def repair_for_16x8(definition: Any) -> None:
    """Changes a GraphDef in place; function bodies too."""
    comparisons = {op: _of_integers(recipe) for op, recipe in _COMPARISONS.items()}
    rewrite(definition, {**comparisons, "SquaredDifference": _squared_difference})


def _of_integers(recipe: Callable[[Writer], Last]) -> Callable[[Writer], Last | None]:
    return lambda one: recipe(one) if one.kind in (_INT32, _INT64) else None


def _as_truth(one: Writer, number: str) -> Last:
    return "Cast", [number], {"SrcT": one.kind, "DstT": _BOOL}


def _not(one: Writer, number: str) -> Last:
    return "LogicalNot", [one.add("Cast", [number], SrcT=one.kind, DstT=_BOOL)], {}


def _less(one: Writer, a: str, b: str) -> str:
    """A number that is 0 unless a < b, whatever overflows: what the smaller of both lacks to b."""
    return one.add("Sub", [one.add("Minimum", [a, b]), b])


def _squared_difference(one: Writer) -> Last | None:
    if one.kind != _FLOAT32:
        return None
    difference = one.add("Sub", one.inputs)
    return "Mul", [difference, difference], {}


_COMPARISONS: Mapping[str, Callable[[Writer], Last]] = {
    "NotEqual": lambda one: _as_truth(one, one.add("Sub", one.inputs)),
    "Equal": lambda one: _not(one, one.add("Sub", one.inputs)),
    "Less": lambda one: _as_truth(one, _less(one, one.inputs[0], one.inputs[1])),
    "Greater": lambda one: _as_truth(one, _less(one, one.inputs[1], one.inputs[0])),
    "GreaterEqual": lambda one: _not(one, _less(one, one.inputs[0], one.inputs[1])),
    "LessEqual": lambda one: _not(one, _less(one, one.inputs[1], one.inputs[0])),
}


def _setup(converter: Any, options: Options) -> None:
    import tensorflow as tf

    del options

    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
        tf.lite.OpsSet.TFLITE_BUILTINS,  # without it, operators on integers alone are refused too; floats are looked for afterwards
    ]


CONVERTER = ToTFLite(
    Precision(
        "tflite-int16x8",
        "TFLite (int16 activations, int8 weights)",
        "A quarter of the size, finer than int8 where that loses too much; needs rows of data.",
        14,
        _setup,
        calibrated=True,
        options=("allow_float",),
        lines=(
            "converter.optimizations = [tf.lite.Optimize.DEFAULT]",
            "converter.target_spec.supported_ops = [",
            "    tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8",
            "]",
        ),
        change=repair_for_16x8,
    )
)
