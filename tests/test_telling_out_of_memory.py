"""What frameworks say when memory ran out is told from their other errors."""

from __future__ import annotations

import pytest

from stethoscope.framework_errors import explain, mentions

MKL = "Operation received an exception:Status: {}, message: could not execute a primitive, in file mkl_matmul_op_fused.cc:306"


@pytest.mark.parametrize(
    "text",
    [
        "OOM when allocating tensor with shape[64,1024]",
        MKL.format(1),
        "Failed to allocate memory for requested buffer of size 419430400",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_memory_ran_out(text):
    assert mentions(text)


@pytest.mark.parametrize("text", [MKL.format(2), "Matrix size-incompatible: In[0]: [1,2]", "the room is out of order"])
def test_other_errors(text):
    assert not mentions(text)


def test_the_tensor_and_its_operator_are_read_from_the_message():
    found = explain(RuntimeError("OOM when allocating tensor with shape[64, 1024] [[{{node dense/MatMul}}]]"))
    assert found is not None
    assert (found.tensor_shape, found.operator) == ([64, 1024], "dense/MatMul")
