"""Two weights have one name in the file."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Two weights would be written under one name in the HDF5 file: two add_weight without a name (or with the same), or two layers with one name; or a file that is there already is written into.",
        Certainty.CERTAIN
        if read.says("save_weights_to_hdf5_group", "hdf5_format", "h5_format", "save_subset_weights")
        else Certainty.LIKELY,
        (
            Step(
                "Give each weight a name of its own.",
                "self.w = self.add_weight(name='w', shape=(n, m))\nself.b = self.add_weight(name='b', shape=(m,))",
            ),
            Step(
                "See who has it.",
                "names = [w.name for w in model.weights]\nprint({n for n in names if names.count(n) > 1})",
            ),
            Step("The .keras format does not save by these names.", "model.save('model.keras')"),
        ),
    )


MESSAGE = Message(
    id="weight-name-twice",
    title="Two weights have one name in the file",
    wordings=(Wording("(name already exists)"), Wording("(Name already exists)")),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/legacy/saving/legacy_h5_format.py",),
)
