"""The weight file lacks an entry."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    entry = read.get("entry", "an entry")
    if entry in ("layer_names", "model_config", "keras_version", "weight_names"):
        return Cause(
            f"The file has no “{entry}”: it holds weights only and is loaded as a model (or the other way round), or was written by another program or format (.weights.h5 of Keras 3 against the HDF5 of Keras 2).",
            Certainty.LIKELY,
            (
                Step("See what it is.", "stethoscope describe FILE"),
                Step(
                    "A file of weights: build the model first.",
                    "model = build()\nmodel.load_weights('file.weights.h5')",
                ),
            ),
        )
    return Cause(
        f"“{entry}” is not in the file: it was written for another architecture, by another version, or was not written to its end.",
        Certainty.LIKELY,
        (Step("Compare what it holds with what the model has.", "stethoscope describe FILE\nmodel.summary()"),),
    )


MESSAGE = Message(
    id="weights-entry-missing",
    title="The weight file lacks an entry",
    wordings=(
        Wording("Unable to open object (object '", r"object '(?P<entry>[\w/.:-]{1,120})' doesn't exist"),
        Wording("Unable to synchronously open object (object '", r"object '(?P<entry>[\w/.:-]{1,120})' doesn't exist"),
        Wording("Can't open attribute (can't locate attribute: '", r"attribute: '(?P<entry>[\w/.:-]{1,120})'"),
        Wording("Unable to open attribute (can't locate attribute: '", r"attribute: '(?P<entry>[\w/.:-]{1,120})'"),
        Wording("There is no item named", r"no item named '(?P<entry>[^']{1,120})'"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/legacy/saving/legacy_h5_format.py",),
    rank=-1,
)
