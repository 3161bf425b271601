"""A layer that quantisation aware training does not know."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("can only either be a tf.keras Sequential or Functional model"):
        return Cause(
            "quantize_model takes a Sequential or functional model of tf.keras (Keras 2); it got a subclassed one, or one of Keras 3.",
            Certainty.LIKELY,
            (Step("Keras 2, before Python starts.", "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1"),),
        )
    if "activation" in read:
        return Cause(
            "tfmot quantises layers with linear, relu, softmax and a few other activations only, given by name; a layer here has another one (sigmoid, swish, a function).",
            Certainty.CERTAIN,
            (
                Step(
                    "Give that activation a layer of its own, and leave it out of the quantising.",
                    "x = keras.layers.Dense(10)(x)\nx = keras.layers.Activation('sigmoid')(x)",
                ),
            ),
        )
    kind = read.get("type").rpartition(".")[2]
    layer = f"{read.layer('A layer')}{f' ({kind})' if kind else ''}"
    return Cause(
        f"tfmot has no rule how to quantise {layer}.",
        Certainty.CERTAIN,
        (
            Step(
                "Quantise only the layers that it knows.",
                "def mark(layer):\n    return tfmot.quantization.keras.quantize_annotate_layer(layer) if isinstance(layer, (keras.layers.Dense, keras.layers.Conv2D)) else layer\nmodel = tfmot.quantization.keras.quantize_apply(keras.models.clone_model(model, clone_function=mark))",
            ),
            Step("Rescaling and other preparation before the model, not in it; tf.… operations as layers."),
            Step("Or without training: quantise when converting, with rows to measure by."),
        ),
    )


MESSAGE = Message(
    id="quantize-layer",
    title="A layer that quantisation aware training does not know",
    wordings=(
        Wording(
            "You can quantize this layer by passing a `tfmot.quantization.keras.QuantizeConfig` instance",
            r"Layer (?P<layer>[\w/.:-]{1,100}?):<class '(?P<type>[\w.]{1,160})'> is not supported",
        ),
        Wording("can only either be a tf.keras Sequential or Functional model"),
        Wording("Only some Keras activations under", r"(?P<activation>activations)"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_INT8, ways.LAYERS),
    sources=(
        "https://github.com/tensorflow/model-optimization/issues/647",
        "https://github.com/tensorflow/model-optimization/issues/602",
        "https://github.com/tensorflow/model-optimization/issues/372",
    ),
)
