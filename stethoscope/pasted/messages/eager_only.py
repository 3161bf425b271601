"""Something of eager execution stands in a graph, or the other way round."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "assign" in read:
        return Cause(
            "A variable is changed by a method, not by an operator on it.",
            Certainty.CERTAIN,
            (Step("Assign.", "variable.assign(variable * 0.9)\nvariable.assign_add(1.0)"),),
        )
    if "final" in read:
        return Cause(
            "An operation is added to a graph that was closed (by a Supervisor, MonitoredSession, Estimator or finalize): something is built in the loop.",
            Certainty.CERTAIN,
            (
                Step(
                    "Build everything before the loop; one graph for each model.",
                    "with tf.Graph().as_default():\n    ...",
                ),
            ),
        )
    if "session" in read:
        return Cause(
            "eval() and run() of TensorFlow 1 need a session, and none is open at that line.",
            Certainty.CERTAIN,
            (
                Step(
                    "Give it, or work in it.",
                    "with tf.compat.v1.Session() as session:\n    value = session.run(tensor)",
                ),
                Step("In TensorFlow 2.", "value = tensor.numpy()"),
            ),
        )
    if "asked" in read:
        return Cause(
            f"“{read.get('asked')}” of a tensor belongs to graphs of TensorFlow 1; the tensor here has a value instead.",
            Certainty.CERTAIN,
            (
                Step(
                    "Code of TensorFlow 1 (tf.gradients, K.gradients): record with a tape.",
                    "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = model(x)\ngradient = tape.gradient(y, x)",
                ),
            ),
        )
    return Cause(
        "A data set is gone through in a plain Python loop while eager execution is off: by disable_eager_execution, tf.compat.v1, or an old TensorFlow.",
        Certainty.LIKELY,
        (
            Step(
                "Leave eager execution on, or make an iterator of TensorFlow 1.",
                "iterator = tf.compat.v1.data.make_one_shot_iterator(data)\nelement = iterator.get_next()",
            ),
        ),
    )


MESSAGE = Message(
    id="eager-only",
    title="Something of eager execution stands in a graph, or the other way round",
    wordings=(
        Wording("__iter__() is only supported inside of tf.function or when eager execution is enabled"),
        Wording("is only supported in eager mode"),
        Wording("Graph is finalized and cannot be modified", r"(?P<final>Graph is finalized)"),
        Wording("Variable *= value not supported", r"(?P<assign>Variable \*= value)"),
        Wording("Variable += value not supported", r"(?P<assign>Variable \+= value)"),
        Wording("is undefined when eager execution is enabled", r"Tensor\.(?P<asked>\w{1,30}) is"),
        Wording("is meaningless when eager execution is enabled", r"Tensor\.(?P<asked>\w{1,30}) is"),
        Wording("No default session is registered", r"(?P<session>default session)"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/tree/master/tensorflow/python/data/ops",
        "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/framework/ops.py",
    ),
    rank=-1,
)
