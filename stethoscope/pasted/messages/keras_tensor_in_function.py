"""A function is called on an Input or output of a Keras model that has no values."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("You are passing KerasTensor(", "(created by layer"):
        return Cause(
            "In a functional model of Keras 2 a tensor of the model went into code of TensorFlow that cannot become a layer: tf.cond, tf.map_fn, a loop, a tape, a function with @tf.function; or layers of tensorflow.python.keras and of keras are mixed in one model.",
            Certainty.LIKELY,
            (
                Step(
                    "Put such code into a layer.",
                    "class Choose(keras.layers.Layer):\n    def call(self, x):\n        return tf.map_fn(step, x)",
                ),
                Step(
                    "Import all of it from one package.",
                    "from tensorflow import keras   # never from tensorflow.python.keras",
                ),
            ),
        )
    if read.says("input/output to a numpy array"):
        return Cause(
            "A tensor of the model, which has no values, went into NumPy or into code of TensorFlow that cannot become a layer: np functions on a layer's output, or a loss that uses tensors of the model from outside of its arguments.",
            Certainty.LIKELY,
            (
                Step("Operations of TensorFlow or Keras instead of NumPy.", "x = tf.math.sqrt(x)   # not np.sqrt(x)"),
                Step(
                    "Such a loss inside of a layer or model.",
                    "class KL(keras.layers.Layer):\n    def call(self, inputs):\n        mean, log_var = inputs\n        self.add_loss(-0.5 * tf.reduce_mean(1 + log_var - mean**2 - tf.exp(log_var)))\n        return mean",
                ),
            ),
        )
    return Cause(
        "In a functional model of Keras 3 an Input is only a shape and a type; functions of TensorFlow (tf.reduce_sum, tf.concat, tf.shape …) and NumPy cannot take it. In Keras 2 they were wrapped into layers by themselves.",
        Certainty.CERTAIN
        if read.says("cannot be used as input to a TensorFlow function", "A KerasTensor is symbolic")
        else Certainty.LIKELY,
        (
            Step("keras.ops has the same functions.", "x = keras.ops.sum(inputs, axis=1)"),
            Step(
                "Or put it into a layer.",
                "class Sum(keras.layers.Layer):\n    def call(self, x):\n        return tf.reduce_sum(x, axis=1)",
            ),
            Step(
                "Much old code: stay with Keras 2.",
                "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1   # before Python starts",
            ),
        ),
    )


MESSAGE = Message(
    id="keras-tensor-in-function",
    title="A function is called on an Input or output of a Keras model that has no values",
    wordings=(
        Wording("A KerasTensor cannot be used as input to a TensorFlow function"),
        Wording("A KerasTensor is symbolic"),
        Wording("You are passing KerasTensor("),
        Wording("Tried to convert 'tensor' to a tensor and failed", beside="KerasTensor"),
        Wording("Cannot convert a symbolic Keras input/output to a numpy array"),
        Wording("TypeError: Could not build a TypeSpec for", r"Could not build a TypeSpec for.{0,40}KerasTensor"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/DataCanvasIO/DeepTables/issues/93",
        "https://github.com/taipingeric/yolo-v4-tf.keras/issues/27",
        "https://github.com/keras-team/keras/issues/20124",
    ),
    rank=1,
)
