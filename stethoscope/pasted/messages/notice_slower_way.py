"""A slower way is taken, with the same result."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The model works. A recurrent layer is fast on a card with its default activations and no recurrent dropout; an Input as first layer takes the place of input_shape; a data set of one's own may take workers.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-slower-way",
    title="A slower way is taken, with the same result",
    wordings=(
        Wording("will not use cuDNN kernels since it doesn't meet the criteria"),
        Wording("Do not pass an `input_shape`/`input_dim` argument to a layer"),
        Wording("class should call `super().__init__(**kwargs)` in its constructor. `**kwargs` can include"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/core/dense.py",),
    role=Role.NOTICE,
)
