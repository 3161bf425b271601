"""Names of classes are asked of a data set that was changed."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import DATA_SET, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"image_dataset_from_directory sets class_names on what it gives; each map, batch, cache, prefetch or take makes another data set ({read.get('type', '_PrefetchDataset')}) without it.",
        Certainty.LIKELY,
        (
            Step(
                "Keep the names before anything else.",
                "train = keras.utils.image_dataset_from_directory('train')\nnames = train.class_names\ntrain = train.cache().prefetch(tf.data.AUTOTUNE)",
            ),
        ),
    )


MESSAGE = Message(
    id="class-names-lost",
    title="Names of classes are asked of a data set that was changed",
    wordings=(
        Wording("has no attribute 'class_names'", rf"'(?P<type>{DATA_SET})' object has no attribute 'class_names'"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://www.tensorflow.org/tutorials/images/classification",),
)
