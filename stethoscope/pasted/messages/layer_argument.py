"""An argument that the layer does not take."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind, arguments = read.get("layer_class", "The layer"), read.get("arguments", "an argument")
    if "old" in read and read.says("load_model", "from_config", "model_from_json", "load_weights"):
        return Cause(
            f"A layer in the file has “{arguments}”, which this Keras does not take: most often another version of Keras wrote the file.",
            Certainty.LIKELY,
            (
                Step(
                    "See the versions, and read the file by the one that wrote it.",
                    "pip list | grep -i -E 'tensorflow|keras'",
                ),
            ),
        )
    if "old" not in read and any(name in arguments for name in ("input_shape", "input_dim", "input_length")):
        return Cause(
            f"{kind} takes no {{{arguments}}} in Keras 3: the shape of the input is a layer of its own.",
            Certainty.CERTAIN,
            (
                Step(
                    "Say it by an Input; a fixed batch (stateful layers) by batch_shape.",
                    "keras.Sequential([keras.Input((5,)), …])\nkeras.Input(batch_shape=(1, 10, 7))",
                ),
            ),
        )
    if "'weights'" in arguments:
        return Cause(
            f"{kind} takes no “weights” in Keras 3.",
            Certainty.CERTAIN,
            (
                Step(
                    "An embedding that is given: by its initializer.",
                    "keras.layers.Embedding(n, d, embeddings_initializer=keras.initializers.Constant(matrix), trainable=False)",
                ),
            ),
        )
    return Cause(
        f"{kind} takes no {{{arguments}}}: it is misspelt, of an older or newer Keras, or belongs to another layer.",
        Certainty.CERTAIN,
        (Step("See what it takes.", f"help(keras.layers.{kind if kind.isidentifier() else 'Dense'})"),),
    )


MESSAGE = Message(
    id="layer-argument",
    title="An argument that the layer does not take",
    wordings=(
        Wording(
            "Unrecognized keyword arguments passed to",
            r"passed to (?P<layer_class>\w{1,60}): \{(?P<arguments>[^}]{1,160})\}",
            unless="when deserializing",
        ),
        Wording(
            "Keyword argument not understood",
            r"(?P<old>not) understood:',? ?'(?P<arguments>\w{1,60})'",
            unless="deserializ",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/issues/20106", "https://github.com/vlawhern/arl-eegmodels/issues/50"),
)
