"""Some weights get no gradient."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    variables = f" ({read.get('variables')})" if "variables" in read else ""
    return Cause(
        f"The loss does not depend on these weights{variables}, so they stay as they are: a head or a branch whose output is not in the loss, a layer that is made but not called, a pooler of a language model, or a cut (argmax, stop_gradient) before them.",
        Certainty.LIKELY,
        (
            Step(
                "Meant so (an unused head, a pooler): leave them out of the step.",
                "for layer in model.layers:\n    print(layer.name, len(layer.trainable_weights))\nmodel.get_layer('pooler').trainable = False",
            ),
            Step("Not meant so: give that output a loss.", "model.compile('adam', loss={'a': 'mse', 'b': 'mse'})"),
        ),
    )


MESSAGE = Message(
    id="gradient-missing",
    title="Some weights get no gradient",
    wordings=(
        Wording(
            "Gradients do not exist for variables",
            r"Gradients do not exist for variables \[(?P<variables>[^\]]{1,200})\]",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.ACTIVATIONS),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/optimizers/base_optimizer.py",),
    role=Role.WARNING,
)
