"""Several hosts, and an operation before the strategy."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "MultiWorkerMirroredStrategy has to be made before TensorFlow runs its first operation, and one ran: a dataset, a layer, a model, or tf.config.list_logical_devices before it, or an imported module that does so.",
        Certainty.CERTAIN,
        (
            Step(
                "The strategy first, right after the import; TF_CONFIG before that.",
                'import os, json\nos.environ["TF_CONFIG"] = json.dumps(cluster)\nimport tensorflow as tf\nstrategy = tf.distribute.MultiWorkerMirroredStrategy()',
            ),
            Step("In a notebook: restart the kernel."),
        ),
    )


MESSAGE = Message(
    id="collective-late",
    title="Several hosts, and an operation before the strategy",
    wordings=(Wording("Collective ops must be configured at program startup"),),
    explain=_explain,
    ways=(ways.PLAN,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/34568",
        "https://github.com/tensorflow/tensorflow/issues/30551",
    ),
)
