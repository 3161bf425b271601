"""Layers of Keras 2 and of Keras 3 in one model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "the layer")
    hub = "tensorflow_hub" in kind or read.says("tensorflow_hub")
    told = (
        f"{kind} is a layer of another Keras than the model."
        if kind != "the layer"
        else "A layer of another Keras than the model was added."
    )
    if read.says("should have a single output tensor"):
        return Cause(
            "A layer in a Sequential gives several outputs, and the next takes one.",
            Certainty.CERTAIN,
            (Step("Build it as a functional model.", "model = keras.Model(inputs, outputs)"),),
        )
    other = kind.startswith(
        ("tf_keras.", "tensorflow_hub", "keras.engine", "keras.layers.", "tensorflow.python.keras", "keras.src.engine")
    )
    steps = [
        Step(
            "Take all of it from one package: keras (Keras 3), or tf_keras (Keras 2).",
            "import tf_keras as keras\nmodel = keras.Sequential([…])",
        )
    ]
    if hub:
        steps.insert(
            0,
            Step(
                "hub.KerasLayer is of Keras 2: build the model with it.",
                "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1   # before Python starts",
            ),
        )
        steps.append(
            Step(
                "Or wrap it in a layer of Keras 3.",
                "class Hub(keras.layers.Layer):\n    def __init__(self, url):\n        super().__init__()\n        self.module = hub.load(url)\n    def call(self, x):\n        return self.module(x)",
            )
        )
    elif read.says("Unknown initializer: GlorotUniform"):
        return Cause(
            "The file was saved by tf.keras and is read by keras of another version, which knows the initializer by another name.",
            Certainty.LIKELY,
            (Step("Load it with the package that saved it.", "model = tf.keras.models.load_model('model.h5')"),),
        )
    elif read.says("'Dimension'", "_keras_history", "_keras_shape", "output_masks"):
        return Cause(
            "A tensor of one Keras (or a plain TensorFlow operation) goes into a layer of another: keras and tf.keras are mixed, or what stands between two layers is no layer.",
            Certainty.LIKELY,
            (
                Step(
                    "Import all of it from one package.",
                    "from tensorflow import keras   # and nowhere: from keras import …",
                ),
                Step("Make an operation between layers a layer.", "x = keras.layers.Lambda(lambda t: t * 2)(x)"),
                Step(
                    "When a model is loaded: import the module of its own classes first, so that they are registered."
                ),
            ),
        )
    elif kind in ("type", "builtins.type"):
        return Cause(
            "A class was added instead of a layer: its brackets are missing.",
            Certainty.CERTAIN,
            (Step("Make one.", "keras.layers.Flatten()   # not keras.layers.Flatten"),),
        )
    if kind != "the layer" and not other and not hub:
        return Cause(
            f"What was added is of type {kind}, which this Keras does not take for a layer: a tensor, a list or a function instead of a layer, or a layer of another Keras (keras, tf.keras, tf_keras).",
            Certainty.LIKELY,
            (
                Step("One layer after another, each made with its brackets.", "model.add(keras.layers.Dense(10))"),
                *steps,
            ),
        )
    return Cause(
        f"{told} tf.keras is Keras 3 since TensorFlow 2.16; tensorflow_hub, tf_keras, keras_cv and older packages bring layers of Keras 2.",
        Certainty.CERTAIN if kind.startswith(("tf_keras.", "tensorflow_hub")) else Certainty.LIKELY,
        tuple(steps),
    )


MESSAGE = Message(
    id="mixed-keras",
    title="Layers of Keras 2 and of Keras 3 in one model",
    wordings=(
        Wording(
            "Only instances of `keras.Layer` can be added to a Sequential model",
            r"Received: <?(?P<object>.{1,120}?)>? \(of type <class '(?P<type>[\w.]{1,120})'>\)",
        ),
        Wording("The added layer must be an instance of class Layer", r"Found: <(?P<type>[\w.]{1,120})"),
        Wording("object has no attribute '_keras_history'"),
        Wording("object has no attribute '_keras_shape'"),
        Wording("must be a string or a number, not 'Dimension'"),
        Wording("Unknown initializer: GlorotUniform"),
        Wording("'Node' object has no attribute 'output_masks'"),
        Wording("All layers in a Sequential model should be"),
        Wording("All layers in a Sequential model should have a single output tensor"),
        Wording("Only instances of `keras.Layer`"),
        Wording(
            "<tf_keras.src",
            r"Received: <?(?P<object>tf_keras[\w.]{1,120}).{0,80}?of type <class '(?P<type>tf_keras[\w.]{1,120})'>",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.LAYERS),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/63849",
        "https://github.com/tensorflow/hub/issues/920",
        "https://github.com/tensorflow/tensorflow/issues/65419",
    ),
)
