"""A data set is no array."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import DATA_SET, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"A tf.data set ({read.get('type', 'Dataset')}) gives its rows one after another; it has no shape, no numbered rows and, in older versions, no length.",
        Certainty.CERTAIN,
        (
            Step("How many batches (−2: not known).", "print(dataset.cardinality().numpy())"),
            Step(
                "Look at one batch; divide by take and skip.",
                "x, y = next(iter(dataset))\ntrain, rest = dataset.take(100), dataset.skip(100)",
            ),
            Step("All of it as arrays, where it fits.", "x = np.concatenate([x for x, y in dataset])"),
            Step("Names of classes stand in class_names, before map and batch.", "print(dataset.class_names)"),
        ),
    )


MESSAGE = Message(
    id="data-set-as-array",
    title="A data set is no array",
    wordings=(
        Wording(
            "Dataset' object",
            rf"'(?P<type>{DATA_SET})' object (?:is not subscriptable|is not an iterator|has no attribute '(?P<attribute>shape|dtype|ndim|astype|reshape|class_indices|classes|samples|flow|next)')",
        ),
        Wording("has no len()", rf"object of type '(?P<type>{DATA_SET})' has no len"),
        Wording(
            "'DatasetV1Adapter' object",
            r"'(?P<type>DatasetV1Adapter)' object (?:is not subscriptable|is not an iterator|has no attribute '(?P<attribute>\w{1,40})')",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/andreariba/DeepCycle/issues/15", "https://github.com/ur-whitelab/exmol/issues/42"),
)
