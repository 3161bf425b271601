"""`batch_size` is given beside data that has its batches."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = f" ({read.get('type')})" if "type" in read else ""
    if "target" in read:
        return Cause(
            "A data set, generator or Sequence brings its labels itself; y belongs to arrays only.",
            Certainty.CERTAIN,
            (
                Step(
                    "Put both into the data set.",
                    "data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)\nmodel.fit(data)",
                ),
            ),
        )
    return Cause(
        f"A data set, generator or Sequence{kind} gives whole batches; batch_size belongs to arrays only.",
        Certainty.CERTAIN,
        (Step("Batch the data set, and leave the argument out.", "model.fit(data.batch(32), epochs=10)"),),
    )


MESSAGE = Message(
    id="batch-size-beside-data-set",
    title="batch_size is given beside data that has its batches",
    wordings=(
        Wording(
            "`batch_size` argument must not be specified for the given input type",
            r"Received input: (?P<type>.{1,100}?), batch_size: (?P<size>\d{1,9})",
        ),
        Wording("The `batch_size` argument must not be specified"),
        Wording("you should not specify a target (`y`) argument, since", r"(?P<target>y)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/tf-keras/blob/master/tf_keras/engine/data_adapter.py",),
)
