"""Layers that the other model computes only together with a neighbour."""

from __future__ import annotations

from stethoscope.compare.parity.comparison import ComparedLayer, OfBoth, Parting, merged
from stethoscope.types import Architecture, Layer


def row(a: str, b: str, nrmse: float | None, how: str = "name", *, same: bool = True) -> ComparedLayer:
    return ComparedLayer(a, a, b, how, "", nrmse, nrmse, None, None, same)


NAMES = ["image", "conv_0", "norm_0", "conv_1", "norm_1", "relu_1", "conv_2", "norm_2", "label"]
MODEL = Architecture(
    "keras",
    "",
    0,
    0,
    (),
    (),
    tuple(
        Layer(name, "Layer", (None, 3), 0, 0, "float32", tuple(NAMES[max(0, place - 1) : place]))
        for place, name in enumerate(NAMES)
    ),
)
ROWS = [
    row("image", "in", 0.0),
    row("conv_0", "Conv_19", 0.93, "structure", same=False),
    row("norm_0", "Conv_19", 6e-8, "values"),
    row("conv_1", "Conv_21", 1.46, "structure", same=False),
    row("relu_1", "Relu", 0.063, same=False),
    row("conv_2", "Conv_23", 1.67, "structure", same=False),
    row("norm_2", "mul", 0.042, "structure"),
    row("label", "label", 0.0044),
]


def parting(layer: str, there: str, group: tuple[str, ...], nrmse: float | None) -> Parting:
    return Parting(layer, there, layer, group, "Why", "why", 0.9, "", "", seen_at=OfBoth(layer, there), nrmse=nrmse)


def test_a_convolution_that_took_its_normalisation_in_is_merged_and_real_differences_are_not():
    assert merged(ROWS, parting("norm_1", "Conv_21", ("conv_1", "norm_1"), 0.09), MODEL) == {
        "conv_0",
        "conv_1",
        "conv_2",
    }
    assert merged(ROWS, None, MODEL) == {"conv_0", "conv_2"}


def test_where_they_part_is_never_merged():
    at_relu = parting("relu_1", "Relu", ("relu_1",), None)
    assert "relu_1" not in merged([*ROWS, row("twin", "Relu", 0.0)], at_relu, MODEL)
    assert "relu_1" in merged([*ROWS, row("twin", "Relu", 0.0)], None, MODEL)


def test_a_difference_that_is_no_number_is_the_largest():
    rows = [row("conv_0", "Conv", None, same=False), row("norm_0", "Conv", 1e-7, "values")]
    assert merged(rows, None, MODEL) == {"conv_0"}


def test_a_layer_whose_neighbour_fits_its_counterpart_far_better_is_merged_whatever_went_in():
    rows = [row("conv_0", "Conv", 0.7, same=False), row("norm_0", "Conv", 0.55), row("relu_1", "Conv", 0.01)]
    assert merged(rows, None, MODEL) == {"conv_0", "norm_0"}
    close = [row("norm_0", "Conv", 0.012), row("relu_1", "Conv", 0.0001)]
    assert merged(close, None, MODEL) == set()
