"""The length of an axis is not known where a layer is built."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    layer = read.layer("The layer")
    if "variable" in read:
        layer = f"The layer of “{read.get('variable')}” {read.get('shape')}"
    if "loose" in read:
        return Cause(
            "A shape of which an axis (or even the number of axes) is None is used where all of it has to be known while the graph is built.",
            Certainty.CERTAIN,
            (
                Step("Take it from the tensor instead.", "size = tf.shape(x)   # not x.shape"),
                Step("Or say the shape in the Input, or after a map.", "x = tf.ensure_shape(x, (None, 3))"),
            ),
        )
    return Cause(
        f"{layer} makes its weights by the length of the channels (the last axis), and that is None: an Input without it, a reshape or a function that loses it, or a data set whose shapes are not known.",
        Certainty.LIKELY
        if "Shapes used to initialize" in read.text and not read.get("variable").endswith("kernel")
        else Certainty.CERTAIN,
        (
            Step("Say it in the Input; only sizes and lengths may be None.", "keras.Input((None, None, 3))"),
            Step(
                "After a function of a data set that loses it:",
                "data.map(lambda x, y: (tf.ensure_shape(x, (None, 3)), y))",
            ),
        ),
    )


MESSAGE = Message(
    id="undefined-axis",
    title="The length of an axis is not known where a layer is built",
    wordings=(
        Wording(
            "Cannot convert a partially known TensorShape",
            r"(?P<loose>TensorShape) (?P<shape>\([\w, ]{1,40}\)) to a Tensor",
        ),
        Wording(
            "Shapes used to initialize variables must be fully-defined",
            rf"Received: shape=(?P<shape>{SHAPE})(?: for variable path='(?P<variable>[^']{{1,120}})')?",
        ),
        Wording("unsupported operand type(s) for %: 'NoneType' and 'int'", beside="base_conv"),
        Wording("The channel dimension of the inputs should be defined"),
        Wording(
            "The last dimension of the inputs to",
            r"The last dimension of the inputs to .{0,20}?(?P<kind>\w{1,40}).{0,12}? should be defined",
        ),
        Wording("has undefined rank and the layer requires a defined rank", r"(?P<loose>undefined rank)"),
        Wording("Found `None`", r"dimension of the inputs? .{0,60}should be defined"),
        Wording("is not fully defined (got", rf"(?P<loose>is not fully defined) \(got (?P<shape>{SHAPE})"),
        Wording("Cannot infer num from shape", rf"(?P<loose>infer num) from shape (?P<shape>{SHAPE})"),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/convolutional/base_conv.py",),
)
