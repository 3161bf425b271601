"""Weights are loaded into layers that have none yet."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    layer = read.layer("A layer")
    counts = f" It wants {read.get('wanted')} and the file has {read.get('found')}." if "wanted" in read else ""
    if "wanted" in read and (read.number("found") or 0) == 0:
        return Cause(
            f"{layer} has weights in the model and none in the file.{counts} It was saved before it was built, under another name, or as part of a layer whose build does not make its inner layers.",
            Certainty.LIKELY,
            (
                Step(
                    "A class of your own: make inner layers in __init__ and build them in build.",
                    "def build(self, shape):\n    self.dense.build(shape)\n    self.built = True",
                ),
                Step("See what the file holds.", "import h5py\nh5py.File('model.weights.h5').visit(print)"),
            ),
        )
    if read.number("wanted"):
        return Cause(
            f"{layer} has another number of weights in the model than in the file.{counts} Its settings differ (a bias, a normalisation without scale), or it is another layer.",
            Certainty.CERTAIN,
            (Step("Compare both.", "import h5py\nh5py.File('model.weights.h5').visit(print)\nmodel.summary()"),),
        )
    return Cause(
        f"{layer} has no weights yet, as the model has not seen a shape.{counts}",
        Certainty.CERTAIN,
        (
            Step(
                "Build it first, then load.",
                "model.build((None, 28, 28, 1))   # or model(tf.zeros((1, 28, 28, 1)))\nmodel.load_weights('model.weights.h5')",
            ),
            Step("A class of your own needs its inner layers built in build, too."),
        ),
    )


MESSAGE = Message(
    id="weights-unbuilt",
    title="Weights are loaded into layers that have none yet",
    wordings=(
        Wording(
            "variables during loading",
            r"[Ll]ayer '?(?P<layer>[\w./-]{1,80})'? (?:was never built.{0,200}?)?expected (?P<wanted>\d{1,4}) variables, but received (?P<found>\d{1,4}) variables during loading",
        ),
        Wording(
            "was never built and thus it doesn't have any variables",
            r"Layer '?(?P<layer>[\w./-]{1,80})'? was never built and thus it doesn't have any variables",
        ),
        Wording(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet"
        ),
        Wording("You are saving a model that has not yet been built"),
        Wording("You are loading weights into a model that has not yet been built"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.LAYERS),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/layer.py",),
)
