"""Statistics in pieces are those of the whole; differences are norms; nothing breaks on what is not finite."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import array_pieces, buffer_pieces, statistics, weights_apart
from tests.exploring import examples


def in_pieces(values: np.ndarray, size: int):
    return lambda: (values[start : start + size] for start in range(0, values.size, size))


@examples(50)
@given(arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e6, 1e6)), st.integers(1, 50))
def test_pieces_give_what_the_whole_gives(values, size):
    found = statistics(in_pieces(values, size))
    assert found.count == values.size
    assert found.mean == pytest.approx(values.mean(), abs=1e-6)
    assert found.std == pytest.approx(values.std(), rel=1e-6, abs=1e-6)
    assert (found.min, found.max) == (values.min(), values.max())
    assert found.norm == pytest.approx(np.linalg.norm(values), rel=1e-9)
    assert sum(found.counts) == values.size


def test_values_that_are_not_finite_are_counted_apart():
    found = statistics(array_pieces(np.array([1.0, np.nan, np.inf, 0.0], np.float32)))
    assert (found.nonfinite, found.zero_fraction, found.mean, found.max) == (2, 0.25, 0.5, 1.0)
    nothing = statistics(array_pieces(np.array([np.nan])))
    assert (nothing.mean, nothing.min, nothing.counts) == (None, None, ())


def test_a_constant_tensor_has_a_histogram():
    found = statistics(array_pieces(np.full(7, 3.0)))
    assert found.std == 0
    assert sum(found.counts) == 7


@pytest.mark.parametrize(
    ("dtype", "raw", "expected"),
    [
        ("bfloat16", np.array([0x3F80, 0xC000], "<u2").tobytes(), [1.0, -2.0]),
        ("int4", bytes([0x7F, 0x08]), [-1, 7, -8]),
        ("uint4", bytes([0x7F, 0x08]), [15, 7, 8]),
        ("float16", np.array([0.5, -1], "<f2").tobytes(), [0.5, -1]),
    ],
)
def test_narrow_types_are_widened(dtype, raw, expected):
    pieces = buffer_pieces(memoryview(b"\0\0" + raw), 2, dtype, len(expected))
    assert np.concatenate(list(pieces())).tolist() == expected


def weight(values, name="kernel"):
    values = np.asarray(values, np.float32)
    return StoredWeight(name, values.shape, "float32", None, array_pieces(values))


def test_the_difference_of_two_layers_is_a_norm():
    first, second = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) + 2
    found = weights_apart([weight(first)], [weight(second)])
    assert found.together.norm_of_difference == pytest.approx(np.linalg.norm(first - second))
    assert found.together.relative == pytest.approx(np.linalg.norm(first - second) / np.linalg.norm(second))


def test_a_kernel_in_another_order_is_the_same_kernel():
    kernel = np.random.default_rng(0).normal(size=(3, 3, 4, 8))
    found = weights_apart([weight(kernel)], [weight(kernel.transpose(3, 0, 1, 2))])
    assert found.together.norm_of_difference == 0
    assert found.unlike == ()


def test_a_tensor_without_a_counterpart_is_named():
    found = weights_apart(
        [weight(np.ones(3)), weight(np.ones(5), "bias")], [weight(np.ones(3)), weight(np.ones(7), "extra")]
    )
    assert found.compared == 1
    assert set(found.unlike) == {("bias", (5,), None), ("extra", None, (7,))}
