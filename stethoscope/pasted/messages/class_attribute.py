"""A class of Keras or TensorFlow does not have this attribute."""

from __future__ import annotations

from collections.abc import Mapping

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.raised.members import OUTSIDE, PACKAGES, members, owner, packages_with

_LIKELY = (
    "Model",
    "Layer",
    "Optimizer",
    "History",
    "Callback",
    "Dataset",
    "ImageDataGenerator",
    "Tokenizer",
    "Tensor",
    "Variable",
)
"""Classes whose attributes are most often asked of something else."""
_ONE_TENSOR = {
    "op",
    "shape",
    "get_shape",
    "dtype",
    "astype",
    "reshape",
    "flatten",
    "tolist",
    "copy",
    "ndim",
    "mean",
    "sum",
    "T",
    "append",
}
_TEXT = {"lower", "upper", "split", "strip", "encode", "decode", "replace", "startswith", "endswith"}
_CLASSES = {"Functional", "Sequential", "Model", "History", "Tensor", "EagerTensor", "KerasTensor"}


def _known(values: Mapping[str, str]) -> bool:
    """A class that is of the frameworks, or what only models of Keras 2 have."""
    kind, attribute = values["type"], values["attribute"]
    if kind in _CLASSES or any(package in ("keras", "tf-keras") for package in packages_with(kind)):
        return True
    return len(attribute) > 6 and attribute in members("tf-keras", "Model") - members("keras", "Model")


def _explain(read: Read) -> Cause:
    kind, attribute = read.get("type", "A class of Keras"), read.get("attribute", "this attribute")
    having = [package for package in PACKAGES if attribute in members(package, kind)]
    other = owner(attribute, _LIKELY)
    look = Step(
        "See what it has.",
        "import keras, tensorflow as tf\nprint(keras.__version__, tf.__version__)\nprint([name for name in dir(thing) if not name.startswith('_')])",
    )
    if attribute in _TEXT and kind.endswith("Tensor"):
        return Cause(
            "A plain text of Python is wanted there and a tensor came.",
            Certainty.LIKELY,
            (
                Step("Texts out of a tensor.", "texts = [text.decode() for text in tensor.numpy()]"),
                Step("Inside of map: operations on texts.", "tf.strings.lower(text), tf.strings.split(text)"),
            ),
        )
    if kind.endswith("Tensor") and (attribute.startswith("assign") or attribute == "trainable"):
        return Cause(
            f"“{attribute}” is of variables; a tensor is a result, and cannot be changed or trained.",
            Certainty.LIKELY,
            (
                Step(
                    "Make it a variable where it is made.", "state = tf.Variable(tf.zeros((32, 10)), trainable=False)"
                ),
                look,
            ),
        )
    if kind.endswith("Tensor") and attribute in {"op", "get_shape"}:
        return Cause(
            f"“{attribute}” is of the tensors of TensorFlow's graphs, and {kind} does not have it: the program, or a function that it calls, was written for TensorFlow 1 or Keras 2.",
            Certainty.LIKELY,
            (
                Step(
                    "Ask what every tensor has; inside of a model, use operations of Keras.",
                    "tensor.shape, tensor.dtype\nx = keras.ops.reshape(x, (-1, 10))",
                ),
                look,
            ),
        )
    if attribute in _ONE_TENSOR:
        return Cause(
            f"A layer ({kind}) stands where its output is wanted: it was made, and not called."
            if not kind.endswith("Tensor")
            else f"“{attribute}” is of NumPy arrays; a tensor of TensorFlow does not have it.",
            Certainty.LIKELY,
            (
                Step(
                    "Call the layer on its input; make an array of a tensor.",
                    "x = keras.layers.Dense(10)(x)\nvalues = tensor.numpy()",
                ),
                look,
            ),
        )
    if attribute in members("keras", OUTSIDE):
        return Cause(
            f"“{attribute}” is set on a {kind} from outside, by Keras itself while it trains, compiles or saves: that has not happened to this object.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Take what fit gives back, or ask after it has run.",
                    "history = model.fit(x, y)\nprint(history.history)",
                ),
                look,
            ),
        )
    if attribute.startswith("_"):
        return Cause(
            f"“{attribute}” is a private part that Keras looks for in every {kind} of its own; the one that it got is of another package or time: keras beside tf.keras or tf_keras, or a library made for another version.",
            Certainty.LIKELY,
            (
                Step(
                    "All imports from one of them, in the whole program.",
                    "from tensorflow import keras   # and nowhere: from keras, from tensorflow.python.keras",
                ),
                look,
            ),
        )
    if "keras" in having:
        return Cause(
            f"Today's {kind} has “{attribute}”; the one here does not: the installed version is older, or the object was pickled by another version, or what sets it (fit, build, compile) has not run.",
            Certainty.LIKELY,
            (look, Step("Bring the packages to one time.", "pip install -U tensorflow keras")),
        )
    if "tf-keras" in having or (not packages_with(kind) and attribute in members("tf-keras", "Model")):
        return Cause(
            f"“{attribute}” is of Keras 2; {kind} of Keras 3 does not have it (Keras 3 comes with TensorFlow 2.16 and later). With an older TensorFlow, keras and tf.keras are mixed.",
            Certainty.POSSIBLE if attribute.startswith("_") else Certainty.LIKELY,
            (
                Step(
                    "Keep Keras 2 for this program, set before the first import.",
                    "pip install tf_keras\nexport TF_USE_LEGACY_KERAS=1",
                ),
                look,
            ),
        )
    if other and other != kind:
        return Cause(
            f"“{attribute}” is of {other}, not of {kind}: the name holds another object than the line takes it for.",
            Certainty.LIKELY,
            (Step("See what it is, and where it was made.", "print(type(thing))"),),
        )
    return Cause(
        f"{kind} has no “{attribute}”, in Keras 2 and 3 of today neither: it is of an older version, of another class, private, or misspelt.",
        Certainty.POSSIBLE,
        (look,),
    )


MESSAGE = Message(
    id="class-attribute",
    title="A class of Keras or TensorFlow does not have this",
    wordings=(
        Wording(
            "object has no attribute '",
            r"'(?:[\w.]{0,80}\.)?(?P<type>[A-Za-z_]\w{1,60})' object has no attribute '(?P<attribute>\w{1,60})'",
            only=_known,
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.LAYERS),
    sources=(
        "https://github.com/mindee/doctr/issues/1637",
        "https://github.com/keras-team/keras-preprocessing/issues/20",
        "https://github.com/keras-team/keras/issues/1791",
    ),
    rank=-2,
)
