"""A matrix product of matrices that do not fit."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown


def _explain(read: Read) -> Cause:
    first, second = read.shape("first"), read.shape("second")
    if first is not None and second is not None and len(first) > 1 and len(second) > 1:
        return Cause(
            f"{shown(first)} times {shown(second)}: the last axis of the first has {first[-1]} values, the one before last of the second {second[-2]}; they have to be equal. {read.layer('A layer')} was built for another number of features, or an array is not flattened, or the order of the product is wrong.",
            Certainty.CERTAIN,
            (
                Step(
                    "In a Dense layer the second one is the kernel: look at what comes in.",
                    "print(x.shape, layer.kernel.shape)",
                ),
                Step("In your own code, transpose or turn the order.", "tf.matmul(a, b, transpose_b=True)"),
            ),
        )
    if "one" in read:
        return Cause(
            f"A matrix product of {read.get('one')} columns with {read.get('other')} rows: they have to be equal. The data has another number of features than the layer was built for, or is not flattened; or the order of a product of your own is wrong.",
            Certainty.CERTAIN,
            (Step("Look at what comes in and at the kernel.", "print(x.shape, layer.kernel.shape)"),),
        )
    return Cause(
        "A matrix product of matrices that do not fit: columns of the first and rows of the second have to be equal.",
        Certainty.CERTAIN,
        (Step("Look at both shapes.", "print(x.shape, layer.kernel.shape)"),),
    )


MESSAGE = Message(
    id="matrix-sizes",
    title="A matrix product of matrices that do not fit",
    wordings=(
        Wording("Matrix size-incompatible", rf"In\[0\]: (?P<first>{SHAPE}), In\[1\]: (?P<second>{SHAPE})"),
        Wording(
            "Dimensions must be equal, but are",
            r"are (?P<one>\d{1,12}) and (?P<other>\d{1,12}) for .{0,200}?MatMul",
            beside="MatMul",
        ),
        Wording("Matrix size-incompatible"),
        Wording(
            "In[0] mismatch In[1] shape",
            rf"In\[0\] mismatch In\[1\] shape: (?P<one>\d{{1,12}}) vs\. (?P<other>\d{{1,12}}): (?P<first>{SHAPE}) (?P<second>{SHAPE})",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/matmul_op_impl.h",),
)
