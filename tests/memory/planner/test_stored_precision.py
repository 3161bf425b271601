"""The precision of a file, from what its layers compute in and what its weights take."""

from __future__ import annotations

import dataclasses

from stethoscope.memory.planner.stored_precision import precision_of
from stethoscope.types import CompileSettings
from tests.memory.planner.architectures import dense_stack
from tests.tables import each


@each(
    ("dtype", "bytes_each", "optimizer", "found"),
    [
        ("float32", 4, None, "float32"),
        ("float32", 12, "Adam", "float32"),
        ("float16", 4, None, "mixed_float16"),
        ("float16", 2, None, "float16"),
        ("bfloat16", 12, "Adam", "mixed_bfloat16"),
        ("bfloat16", 6, "Adam", "bfloat16"),
        ("bfloat16", 4, "SGD", "mixed_bfloat16"),
    ],
)
def test_precision_of_a_file(dtype, bytes_each, optimizer, found):
    model = dense_stack([16, 4])
    layers = tuple(dataclasses.replace(layer, dtype=dtype) for layer in model.layers)
    compiled = CompileSettings("mse", optimizer, None) if optimizer else None
    model = dataclasses.replace(model, layers=layers, weight_bytes=bytes_each * model.parameters, compile=compiled)
    assert precision_of(model) == found
