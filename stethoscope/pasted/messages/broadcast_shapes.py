"""Two tensors of different shapes meet in one operation."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, shown

_ELEMENTWISE = frozenset(
    [
        "Add",
        "AddV2",
        "Sub",
        "Mul",
        "Div",
        "RealDiv",
        "FloorDiv",
        "FloorMod",
        "DivNoNan",
        "Pow",
        "Maximum",
        "Minimum",
        "SquaredDifference",
        "Equal",
        "NotEqual",
        "Greater",
        "GreaterEqual",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalOr",
        "Select",
        "SelectV2",
        "Atan2",
        "Xdivy",
        "Xlogy",
    ]
)
"""Operations that repeat the smaller tensor along the larger one."""


def _explain(read: Read) -> Cause:
    first, second = read.shape("first"), read.shape("second")
    look = Step(
        "Print both shapes at the line it points to; a loss or metric of your own gets (rows, …) and has to give one number for each row.",
        "tf.print(tf.shape(y_true), tf.shape(y_pred))",
    )
    if first is None or second is None:
        if "one" in read and read.get("operation", "Mul") not in _ELEMENTWISE:
            return Cause(
                f"{read.get('operation')} gets tensors with {read.get('one')} and {read.get('other')} values along an axis where it wants equal ones.",
                Certainty.LIKELY,
                (look,),
            )
        if "one" in read:
            return Cause(
                f"Two tensors meet with {read.get('one')} and {read.get('other')} values along one axis; they have to be equal, or (where one is repeated along the other) one of them 1.",
                Certainty.CERTAIN,
                (look,),
            )
        return Cause(
            "Two tensors meet whose shapes cannot be brought together: along each axis they have to be equal, or one of them 1. Most often in a loss or metric of one's own, or in labels of another shape.",
            Certainty.LIKELY,
            (look,),
        )
    told = f"{shown(first)} meets {shown(second)}."
    if len(first) == len(second):
        where = [
            axis
            for axis, (one, other) in enumerate(zip(first, second, strict=True))
            if one != other and 1 not in (one, other)
        ]
        axes = (
            f" They differ in axis {' and '.join(str(axis) for axis in where)}: {', '.join(f'{first[axis]} against {second[axis]}' for axis in where)}."
            if where
            else ""
        )
        if where == [0] and len(first) == 1:
            return Cause(
                f"{told}{axes} One value for each row meets another number of rows: something was averaged over the wrong axis, or reshaped together with the axis of rows.",
                Certainty.LIKELY,
                (
                    Step(
                        "Reduce over all axes but the rows.",
                        "keras.ops.mean(keras.ops.square(y_true - y_pred), axis=-1)",
                    ),
                    look,
                ),
            )
        small = where and all(abs((first[axis] or 0) - (second[axis] or 0)) <= 2 for axis in where)
        if small and where != [0]:
            return Cause(
                f"{told}{axes} Lengths that differ by one or two come from odd sizes that were halved and doubled, or from padding that was left out.",
                Certainty.LIKELY,
                (
                    Step(
                        "Give sizes that can be halved as often as the network halves them, or crop.",
                        "size = size // 32 * 32",
                    ),
                    look,
                ),
            )
        return Cause(
            f"{told}{axes} They have to be equal there, or one of them 1.",
            Certainty.CERTAIN if where else Certainty.LIKELY,
            (look,),
        )
    return Cause(
        f"{told} One has {len(first)} axes and the other {len(second)}: a target that is (rows,) beside an output (rows, 1), or a loss that keeps an axis.",
        Certainty.LIKELY,
        (Step("Bring them to the same axes.", "y = y[:, None]   # or keras.ops.squeeze(y_pred, -1)"), look),
    )


MESSAGE = Message(
    id="broadcast-shapes",
    title="Two tensors of different shapes meet in one operation",
    wordings=(
        Wording("Incompatible shapes: ", rf"Incompatible shapes: (?P<first>{SHAPE}) vs\.? (?P<second>{SHAPE})"),
        Wording(
            "Dimensions must be equal, but are",
            r"Dimensions must be equal, but are (?P<one>\d{1,12}) and (?P<other>\d{1,12}) for .{0,200}?(?:\}\} = |op: ')(?P<operation>\w{1,40})",
            unless="MatMul",
        ),
        Wording(
            "Dimensions must be equal, but are",
            r"Dimensions must be equal, but are (?P<one>\d{1,12}) and (?P<other>\d{1,12})",
            unless="MatMul",
        ),
        Wording("required broadcastable shapes"),
        Wording(
            "operands could not be broadcast together with shapes",
            r"together with shapes (?P<first>\([\d,]{0,60}\)) (?P<second>\([\d,]{0,60}\))",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.LAYERS),
    sources=(
        "https://github.com/keras-team/keras/issues/9752",
        "https://github.com/keras-team/keras/issues/10408",
        "https://github.com/keras-team/keras/issues/11893",
    ),
)
