"""A tensor of the model has no length."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    rl = (
        " keras-rl is for TensorFlow 1; keras-rl2 is for TensorFlow 2."
        if read.says("dqn.py", "ddpg.py", "/rl/")
        else ""
    )
    if "scalar" in read:
        return Cause(
            "A tensor without axes, one number, is gone through or taken apart.",
            Certainty.CERTAIN,
            (Step("Look at its shape.", "print(x.shape)   # () has no parts"),),
        )
    return Cause(
        f"len() was asked of a tensor of the graph{' (“' + read.get('tensor') + '”)' if 'tensor' in read else ''}, which has no length while the model is built. Often a library for TensorFlow 1 does so.{rl}",
        Certainty.CERTAIN,
        (
            Step("Ask for the shape.", "x.shape[0]   # tf.shape(x)[0] where it is only known at run time"),
            Step(
                "A library that does it: its version for TensorFlow 2.", "pip install keras-rl2   # instead of keras-rl"
            ),
        ),
    )


MESSAGE = Message(
    id="symbolic-length",
    title="A tensor of the model has no length",
    wordings=(
        Wording("Keras symbolic inputs/outputs do not implement `__len__`"),
        Wording("len is not well defined for symbolic Tensors", r"symbolic Tensors\. \((?P<tensor>[\w/.:-]{1,120})\)"),
        Wording("len is not well defined for a symbolic Tensor"),
        Wording("Cannot iterate over a scalar tensor", r"(?P<scalar>scalar)"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-rl/keras-rl/issues/348", "https://github.com/keras-rl/keras-rl/issues/371"),
)
