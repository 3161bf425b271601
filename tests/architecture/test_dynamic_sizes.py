"""Open sizes that follow from what an operator reads are those that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stethoscope.architecture.dynamic_sizes import filled
from stethoscope.types import Layer, Operand, Shape
from tests.tables import each

Sizes = tuple[int, ...]


def follows(
    kind: str,
    declared: Shape,
    stated: list[Shape | None],
    given: list[Sizes | None],
    config: dict[str, Any] | None = None,
) -> Sizes | None:
    layer = Layer(
        "it", kind, declared, 0, 0, "float32", (), config or {}, tuple(Operand("", shape) for shape in stated)
    )
    return filled(layer, declared, stated, given)


@each(
    ("kind", "declared", "stated", "given", "compute"),
    [
        ("Reshape", (None, 6), [(None, 2, 3)], [(5, 2, 3)], lambda x: x.reshape(-1, 6)),
        ("Reshape", (None, None, 6), [(None, None, 2, 3)], [(5, 7, 2, 3)], lambda x: x.reshape(5, 7, 6)),
        ("Transpose", (None, 4, None), [(None, None, 4)], [(5, 7, 4)], lambda x: x.transpose(0, 2, 1)),
        ("Placeholder", (None, 4), [(None, 4)], [(5, 4)], lambda x: x),
        ("Concat", (None, 7), [(None, 3), (None, 4)], [(5, 3), (5, 4)], lambda x, y: np.concatenate([x, y], 1)),
        ("ConcatV2", (None, 3), [(None, 3), (None, 3)], [(5, 3), (2, 3)], lambda x, y: np.concatenate([x, y], 0)),
        ("Gather", (None, None, 8), [(100, 8), (None, None)], [(100, 8), (5, 7)], lambda x, y: x[y.astype(int)]),
        ("EMBEDDING_LOOKUP", (None, 8), [(None,), (100, 8)], [(5,), (100, 8)], lambda x, y: y[x.astype(int)]),
        ("Gather", (None, 8), [(None, 3, 8), ()], [(5, 3, 8), ()], lambda x, y: x[:, int(y)]),
        ("MatMul", (None, 3), [(None, 4), (4, 3)], [(5, 4), (4, 3)], np.matmul),
        ("MatMul", (None, None), [(None, 4), (4, None)], [(5, 4), (4, 7)], np.matmul),
        ("MatMul", (None, None), [(None, 4), (None, 4)], [(5, 4), (7, 4)], lambda x, y: x @ y.T),
        ("MatMul", (2, None, 3), [(None, 4), (2, 4, 3)], [(5, 4), (2, 4, 3)], None),
        ("Gemm", (None, 3), [(None, 4), (4, 3)], [(5, 4), (4, 3)], np.matmul),
        ("Gemm", (None, None), [(None, 4), (4, None)], [(5, 4), (4, 3)], np.matmul),
        ("Gemm", (None, 4), [(None, 4), (4, 4)], [(5, 4), (4, 4)], np.matmul),
        (
            "FULLY_CONNECTED",
            (None, 3),
            [(None, 2, 4), (3, 4)],
            [(5, 2, 4), (3, 4)],
            lambda x, y: x.reshape(-1, 4) @ y.T,
        ),
        ("Add", (None, 4), [(None, 4), (4,)], [(5, 4), (4,)], np.add),
        ("Greater", (None, 7), [(None, 1), (7,)], [(5, 1), (7,)], np.greater),
        ("Relu", (None, 4), [(None, 4)], [(5, 4)], lambda x: np.maximum(x, 0)),
        ("ReduceMean", (None, 4), [(None, 6, 4)], [(5, 6, 4)], lambda x: x.mean(1)),
        ("Pad", (None, 9), [(None, 6)], [(5, 6)], lambda x: np.pad(x, [(0, 0), (1, 2)])),
    ],
)
def test_open_sizes_are_those_of_numpy(
    kind: str,
    declared: Shape,
    stated: list[Shape | None],
    given: list[Sizes | None],
    compute: Callable[..., Any] | None,
) -> None:
    found = follows(kind, declared, stated, given)
    arrays = [np.zeros(size or ()) for size in given]
    expected = np.matmul(*arrays).shape if compute is None else compute(*arrays).shape
    assert found == expected


@each(
    ("kind", "declared", "stated", "given"),
    [
        ("Relu", (None, 4), [(None, 4)], [None]),
        ("Placeholder", (None, 4), [(None, 2, 2)], [(5, 2, 2)]),
        ("ReduceMean", (None, None), [(None, 6, None)], [(5, 6, 4)]),
        ("Reshape", (None, 6), [(None, 5)], [(5, 5)]),
        ("Reshape", (None, 0), [(None, 5)], [(5, 5)]),
        ("Gemm", (None, 3), [(None, 4), (3, 4)], [(5, 4), (3, 4)]),
        ("Gemm", (None, 4), [(None, 5), (3, 4)], [(5, 5), (3, 4)]),
        ("MatMul", (None, 3), [None, (4, 3)], [None, (4, 3)]),
        ("MatMul", (4, None), [(2, None, 4), (4, 3)], [(2, 5, 4), (4, 3)]),
        ("MatMul", (None, None), [(None, 4), None], [(5, 4), None]),
        ("Add", (None, None, 4), [(None,)], [(5,)]),
        ("MyOperator", (None, 4), [(None, 4)], [(5, 4)]),
    ],
)
def test_what_does_not_follow_stays_open(
    kind: str, declared: Shape, stated: list[Shape | None], given: list[Sizes | None]
) -> None:
    assert follows(kind, declared, stated, given) is None


@each(
    ("kind", "declared", "given", "config", "expected"),
    [
        (
            "Conv",
            (None, 8, None, None),
            [(2, 3, 9, 11), (8, 3, 3, 3)],
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
            (2, 8, 5, 6),
        ),
        ("Conv", (None, 8, 5, 6), [(2, 3, 9, 11), (8, 3, 3, 3)], {"kernel_shape": [3]}, (2, 8, 5, 6)),
        ("GlobalAveragePool", (None, 3, 1, 1), [(2, 3, 9, 11)], {}, (2, 3, 1, 1)),
        ("Gemm", (None, 3), [(5, 4), (3, 4)], {"transB": 1}, (5, 3)),
        ("Gemm", (None, None), [(4, 5), (3, 4), (3,)], {"transA": 1, "transB": 1}, (5, 3)),
        ("Gemm", (None, 3), [(4, 5), (4, 3)], {"transA": 1}, (5, 3)),
        ("Gemm", (None, 3), [(4, 5), None], {"transA": 1}, (5, 3)),
    ],
)
def test_a_window_slides_over_open_sizes(
    kind: str, declared: Shape, given: list[Sizes | None], config: dict[str, Any], expected: Sizes
) -> None:
    stated: list[Shape | None] = [(None, 3, None, None), *given[1:]]
    assert follows(kind, declared, stated, given, config) == expected
