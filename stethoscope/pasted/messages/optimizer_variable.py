"""An optimizer that was made for other weights."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('variable')}”" if "variable" in read else "a weight"
    return Cause(
        f"The optimizer was built for one list of weights and is given {named}, which is not in it. Most often: one optimizer for two models or two parts, a model that was made anew in a loop or notebook cell, or layers that were unfrozen after it was built.",
        Certainty.CERTAIN,
        (
            Step(
                "An optimizer for each model, made anew with it.",
                "generator_optimizer = keras.optimizers.Adam()\ndiscriminator_optimizer = keras.optimizers.Adam()",
            ),
            Step(
                "One optimizer for parts that take turns: give it all weights first.",
                "optimizer.build(model.trainable_variables)",
            ),
            Step(
                "After unfreezing: compile again.",
                "base.trainable = True\nmodel.compile(keras.optimizers.Adam(1e-5), loss)",
            ),
        ),
    )


MESSAGE = Message(
    id="optimizer-variable",
    title="An optimizer that was made for other weights",
    wordings=(
        Wording(
            "The optimizer cannot recognize variable",
            r"cannot recognize variable (?P<variable>[\w/.:-]{1,120}?)\.? This",
        ),
        Wording(
            "This optimizer can only be called for the variables it was originally built with",
            r"Unknown variable: <\w{0,20}[vV]ariable (?:path=|shape=[^>]{0,60}path=)(?P<variable>[\w/.-]{1,120})",
        ),
        Wording("This optimizer can only be called for the variables it was originally built with"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/StatBiomed/UniTVelo/issues/20",
        "https://github.com/yzhao062/pyod/issues/459",
        "https://github.com/mrosol/Nonlincausality/pull/12",
    ),
)
