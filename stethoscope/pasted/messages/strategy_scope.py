"""Something was made outside of the scope of the distribution strategy."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('variable')}”" if "variable" in read else "A weight"
    return Cause(
        f"{named} was made outside of the strategy's scope and is used inside of it (or by another strategy): model, optimizer and metrics all have to be made in one scope.",
        Certainty.CERTAIN,
        (
            Step(
                "Make and compile all of it inside; layers that are loaded from a hub, too.",
                "strategy = tf.distribute.MirroredStrategy()\nwith strategy.scope():\n    model = build_model()\n    model.compile(keras.optimizers.Adam(), 'mse')\nmodel.fit(dataset)",
            ),
            Step("One strategy for the whole program."),
        ),
    )


MESSAGE = Message(
    id="strategy-scope",
    title="Something was made outside of the scope of the distribution strategy",
    wordings=(
        Wording("was not created in the distribution strategy scope", r"<tf\.Variable '(?P<variable>[^']{1,100})'"),
        Wording("Mixing different tf.distribute.Strategy objects"),
        Wording("must be created in the same distribution strategy"),
        Wording("Variable was not created in the distribution strategy scope"),
    ),
    explain=_explain,
    ways=(ways.PLAN, ways.DEVICES),
    sources=(
        "https://github.com/tensorflow/hub/issues/469",
        "https://github.com/tensorflow/tensorflow/issues/26709",
        "https://github.com/tensorflow/tensorflow/issues/42701",
    ),
)
