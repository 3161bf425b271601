"""Statistics merged over batches are those of all rows at once, whatever the batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.activations.layer_totals import TOP_SAMPLES, LayerTotals
from stethoscope.activations.reduced import MOST_UNITS, Layout, reduce_array
from stethoscope.activations.watching import real_values
from stethoscope.architecture.endings import activation_behind
from stethoscope.types import Layer
from tests.exploring import examples


def totals(values: np.ndarray, sizes: list[int], activation: str = "relu", layout: Layout | None = None) -> LayerTotals:
    made = LayerTotals("layer", "Dense", activation, layout or Layout())
    start = 0
    for size in sizes:
        part = values[start : start + size]
        made.add(reduce_array(part, made.layout, len(part)), np.arange(start, start + len(part)))
        start += size
    return made


@examples(40)
@given(
    shape=st.sampled_from([(12,), (12, 5), (12, 3, 4), (12, 4, 3, 2)]),
    sizes=st.sampled_from([[12], [5, 7], [1] * 12, [4, 4, 4], [11, 1]]),
    shift=st.sampled_from([0.0, 1e4, -3.0]),
    channels_first=st.booleans(),
)
def test_batches_make_no_difference(shape, sizes, shift, channels_first):
    values = np.maximum(np.random.default_rng(1).normal(size=shape), 0).astype(np.float32) + np.float32(shift)
    layout = Layout(1 if channels_first else -1)
    made = totals(values, sizes, layout=layout)
    entry = made.result()
    assert entry.mean == pytest.approx(values.mean(dtype=np.float64), rel=1e-6)
    assert entry.std == pytest.approx(values.std(dtype=np.float64), rel=1e-5)
    assert (entry.min, entry.max) == (values.min(), values.max())
    assert entry.zero_fraction == pytest.approx((values == 0).mean())
    assert entry.rows == 12 and entry.shape == shape and entry.values == values.size
    assert sum(entry.histogram.counts) == values.size == entry.histogram.of
    units = values.reshape(12, -1, 1) if values.ndim == 1 else values
    axis = 1 if channels_first and values.ndim > 2 else -1
    by_unit = np.moveaxis(units, axis, -1).reshape(12, -1, units.shape[axis])
    np.testing.assert_allclose(made.by_unit["mean"], by_unit.mean((0, 1)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(made.by_unit["std"], by_unit.std((0, 1), dtype=np.float64), rtol=1e-4, atol=1e-5)
    best = by_unit.max(1)
    for unit, top in enumerate(made.top):
        kept = np.sort(best[:, unit])[::-1][:TOP_SAMPLES]
        np.testing.assert_allclose(top["value"], kept)
        np.testing.assert_allclose(best[top["place"], unit], top["value"])


def test_dead_and_saturated_units_are_those_of_every_row_and_position():
    values = np.ones((6, 4, 3), np.float32)
    values[..., 0] = 0
    values[..., 1] = 0
    values[5, 3, 1] = 0.1
    entry = totals(values, [3, 3]).result()
    assert (entry.dead_units, entry.saturated_units, entry.saturated_fraction) == (1, None, None)
    squashed = np.full((4, 3), 0.5, np.float32)
    squashed[:, 0], squashed[:2, 1] = 1.0, 0.0
    entry = totals(squashed, [2, 2], "sigmoid", Layout(-1, 0.0067, 0.9933)).result()
    assert (entry.dead_units, entry.saturated_units) == (None, 1)
    assert entry.saturated_fraction == pytest.approx(6 / 12)


def test_values_that_are_not_finite_are_counted_and_left_out():
    values = np.array([[1.0, np.nan], [3.0, np.inf], [5.0, 2.0]], np.float32)
    made = totals(values, [2, 1])
    entry = made.result()
    assert (entry.nonfinite, entry.min, entry.max, entry.dead_units) == (2, 1.0, 5.0, None)
    assert entry.mean == pytest.approx(11 / 4)
    assert made.by_unit["mean"].tolist() == [3.0, 2.0]
    nothing = totals(np.full((2, 2), np.nan, np.float32), [2]).result()
    assert nothing.nonfinite == 4 and nothing.mean is None and nothing.histogram is None


def test_another_number_of_units_makes_them_one():
    made = LayerTotals("scores", "Softmax", "softmax", Layout())
    for start, width in ((0, 3), (2, 5)):
        array = np.full((2, width), float(width), np.float32)
        made.add(reduce_array(array, made.layout, 2), np.arange(start, start + 2))
    entry = made.result()
    assert entry.units == 1 and entry.rows == 4 and entry.shape == (4, None)
    assert entry.mean == pytest.approx((6 * 3 + 10 * 5) / 16)


def test_a_layer_of_very_many_units_is_one():
    made = totals(np.ones((2, MOST_UNITS + 1), np.float32), [2])
    assert made.units == 1 and made.result().unit_axis is None


def test_text_has_no_statistics():
    assert reduce_array(np.array(["a", "b"]), Layout(), 2) is None


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("CONV_2D", {"fusedActivationFunction": "RELU6"}, "relu6"),
        ("CONV_2D", {"fusedActivationFunction": "NONE"}, "linear"),
        ("LOGISTIC", {}, "sigmoid"),
        ("ReLU", {"max_value": 6.0}, "relu6"),
        ("ReLU", {"negative_slope": 0.1}, "leaky_relu"),
        ("Dense", {"activation": "tanh"}, "tanh"),
        ("LSTM", {"activation": "tanh"}, ""),
    ],
)
def test_the_activation_behind_an_output(kind, config, expected):
    layer = Layer("a", kind, (None, 4), 0, 0, "float32", config=config)
    assert activation_behind(layer) == expected
    assert activation_behind(layer, first=False) == ""


def test_quantised_values_stand_for_real_ones():
    layer = Layer(
        "a",
        "ADD",
        (None, 2),
        0,
        0,
        "int8",
        config={"output_quantization": {"kind": "per tensor", "scale": 0.5, "zero_point": -2}},
    )
    assert real_values(np.array([-2, 4], np.int8), layer).tolist() == [0.0, 3.0]
    assert real_values(np.array([1.5]), layer).tolist() == [1.5]
