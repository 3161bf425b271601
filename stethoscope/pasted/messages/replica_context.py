"""Something stands on the wrong side of `strategy.run`."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    scope = Step(
        "The step that is run on each card, its tf.function around the call of run.",
        "@tf.function\ndef train(batch):\n    losses = strategy.run(step, args=(batch,))   # step itself without tf.function\n    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)",
    )
    if "merge" in read:
        return Cause(
            "The function given to strategy.run is itself a tf.function (or calls one), and updates weights inside of it: the copies on the cards cannot meet there.",
            Certainty.LIKELY,
            (scope,),
        )
    if "aggregation" in read:
        return Cause(
            "A variable that every card has a copy of is assigned inside of the step, and it was not said how the copies become one value.",
            Certainty.CERTAIN,
            (Step("Say it where the variable is made.", "tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)"),),
        )
    if "eager" in read:
        return Cause("run of a TPU's strategy has to stand in a tf.function.", Certainty.CERTAIN, (scope,))
    return Cause(
        "Inside of strategy.run each card works by itself; outside of it all of them together. This call stands on the other side than it belongs to: apply_gradients, losses and metrics inside, reduce and merged values outside.",
        Certainty.LIKELY,
        (scope, Step("With compile and fit, Keras does this by itself.")),
    )


MESSAGE = Message(
    id="replica-context",
    title="Something stands on the wrong side of strategy.run",
    wordings=(
        Wording("`merge_call` called while defining a new graph or a tf.function", r"`(?P<merge>merge_call)` called"),
        Wording("merge_call called while defining a new graph or a tf.function", r"(?P<merge>merge_call) called"),
        Wording("Method requires being in cross-replica context"),
        Wording("requires being in replica context"),
        Wording("Replica-local variables may only be assigned in a replica context"),
        Wording("cannot be called in cross-replica context"),
        Wording("in cross-replica context when aggregation is set to"),
        Wording("in cross replica context, while it was expected to be called in replica context"),
        Wording(
            "You must specify an aggregation method to update a MirroredVariable in Replica Context",
            r"(?P<aggregation>aggregation method)",
        ),
        Wording("TPUStrategy.run(fn, ...) does not support pure eager execution", r"(?P<eager>pure eager execution)"),
        Wording("strategy.run(fn, ...) does not support pure eager execution", r"(?P<eager>pure eager execution)"),
    ),
    explain=_explain,
    ways=(ways.PLAN,),
    sources=(
        "https://github.com/ruiqigao/recovery_likelihood/issues/7",
        "https://www.tensorflow.org/tutorials/distribute/custom_training",
    ),
)
