"""The weights are of a network with other layers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file, model = read.number("file"), read.number("model")
    if "missing" in read:
        return Cause(
            f"{read.get('missing')} layers or variables of the model got nothing from the file; the example that the message goes on with says why: no weights yet (not built), other shapes, or another architecture.",
            Certainty.POSSIBLE,
            (
                Step("Compare the model with the file.", "model.summary()"),
                Step(
                    "Build it first: a model of one's own has weights after its first call.",
                    "model(x[:1])\nmodel.load_weights('model.weights.h5')",
                ),
            ),
        )
    if file is None or model is None:
        return Cause(
            "The weights in the file and the layers of the model do not go together: another architecture, or layers that have other names or an order of their own.",
            Certainty.LIKELY,
            (
                Step("Compare them, layer by layer.", "model.summary()"),
                Step("Build the model as it was when the weights were saved."),
            ),
        )
    told = f"The file has weights of {file} layers and the model has {model} layers with weights."
    if file == 0:
        return Cause(
            f"{told} The file holds none: it is a whole model (load_model) or was saved by another program or version.",
            Certainty.LIKELY,
            (Step("A whole model is loaded, not its weights.", "model = keras.models.load_model('model.h5')"),),
        )
    if model == 0:
        return Cause(
            f"{told} The model is not built yet: it does not know its input.",
            Certainty.LIKELY,
            (
                Step(
                    "Build it first.",
                    "model.build((None, 224, 224, 3))   # or call it once\nmodel.load_weights('weights.h5')",
                ),
            ),
        )
    return Cause(
        f"{told} It is another architecture: with or without the top, another backbone, another number of blocks, or frozen layers that are counted otherwise.",
        Certainty.CERTAIN,
        (
            Step(
                "Build it as it was saved; with another top, take the layers that go by name.",
                "model.load_weights('weights.h5', by_name=True, skip_mismatch=True)",
            ),
            Step(
                "Backbones: with the same top as the file.",
                "keras.applications.ResNet50(include_top=False, weights=None)",
            ),
        ),
    )


MESSAGE = Message(
    id="weights-layer-count",
    title="The weights are of a network with other layers",
    wordings=(
        Wording(
            "You are trying to load a weight file containing",
            r"containing (?P<file>\d{1,6}) layers into a model with (?P<model>\d{1,6}) layers",
        ),
        Wording(
            "Layer count mismatch when loading weights from file",
            r"Model expected (?P<model>\d{1,6}) layers, found (?P<file>\d{1,6}) saved layers",
        ),
        Wording(
            "A total of", r"A total of (?P<missing>\d{1,6}) objects could not be loaded", unless="cannot be assigned"
        ),
        Wording(
            "but the saved weights have",
            r"[Hh]owever the new layer (?P<layer>[\w.-]{1,80}) expects (?P<wanted>\d{1,6}) weights, but the saved weights have (?P<found>\d{1,6}) elements",
        ),
        Wording(
            "weight(s), but the saved weights have",
            r"expects (?P<wanted>\d{1,6}) weight\(s\), but the saved weights have (?P<found>\d{1,6}) element",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.LAYERS),
    sources=(
        "https://github.com/heuritech/convnets-keras/issues/50",
        "https://github.com/tuvovan/NHDRRNet/issues/10",
        "https://github.com/jhasuman/potholes-detection/issues/1",
    ),
)
