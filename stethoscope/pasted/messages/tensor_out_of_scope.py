"""A tensor of one traced function is used outside of it."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A tensor that was made while a function (tf.function, a layer's call, a map) was traced was kept and is used elsewhere: on an attribute, in a list, by a layer made outside, or in a loop of another function. In its own graph it is only a name for a value.",
        Certainty.CERTAIN,
        (
            Step("Hand it back as a return value.", "@tf.function\ndef step(x):\n    return x, x * 2"),
            Step(
                "State that lasts is a variable.",
                "self.total = self.add_weight(shape=(), initializer='zeros')\nself.total.assign_add(value)",
            ),
            Step("A custom loss that uses an inner tensor: add_loss in the layer, or a model with train_step."),
        ),
    )


MESSAGE = Message(
    id="tensor-out-of-scope",
    title="A tensor of one traced function is used outside of it",
    wordings=(
        Wording("is out of scope and cannot be used here"),
        Wording(
            "cannot be accessed from here, because it was defined in",
            r"The tensor (?P<tensor><?.{1,100}?>?) cannot be accessed from here, because it was defined in (?P<graph>FuncGraph\(name=[\w./-]{1,80})",
        ),
        Wording(
            "cannot be accessed here: it is defined in another function or code block",
            r"The tensor '?(?P<tensor>.{1,100}?)'? cannot be accessed here",
        ),
        Wording("An op outside of the function building code is being passed"),
        Wording("is out of scope.", beside="ensor"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values",),
)
