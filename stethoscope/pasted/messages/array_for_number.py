"""An array where one number is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type")
    if kind in ("Dimension", "TensorShape"):
        return Cause(
            f"A {kind} of TensorFlow 1 stands where a plain number is wanted: a size was taken from tensor.shape.",
            Certainty.LIKELY,
            (
                Step(
                    "Make a number of it.",
                    "size = int(x.shape[1])   # or x.shape.as_list()[1], keras.backend.int_shape(x)[1]",
                ),
            ),
        )
    if kind in ("Tensor", "KerasTensor", "SymbolicTensor", "Variable"):
        return Cause(
            f"A {kind} has no value while the model is built, and a number is wanted there.",
            Certainty.LIKELY,
            (
                Step(
                    "Use operations of tensors instead of float, int and math.",
                    "y = keras.ops.sqrt(x)   # not math.sqrt(x)",
                ),
            ),
        )
    if "index" in read:
        return Cause(
            "An array or list stands where one whole number is wanted: a list is indexed by an array, or np.concatenate got its arrays one by one.",
            Certainty.LIKELY,
            (
                Step(
                    "Lists by arrays: make an array first; concatenate takes a tuple.",
                    "x = np.asarray(x)[indices]\nnp.concatenate((a, b))   # not concatenate(a, b)",
                ),
            ),
        )
    return Cause(
        f"A value{f' of type {kind}' if kind else ' with several numbers'} stands where one number is wanted.",
        Certainty.LIKELY,
        (Step("See its shape, take one value out.", "print(np.shape(value))\nvalue = float(np.ravel(value)[0])"),),
    )


MESSAGE = Message(
    id="array-for-number",
    title="An array where one number is wanted",
    wordings=(
        Wording(
            "only integer scalar arrays can be converted to a scalar index", r"(?P<index>only integer scalar arrays)"
        ),
        Wording(
            "can be converted to Python scalars",
            r"only (?:size-1|length-1|0-dimensional) arrays can be converted to Python scalars",
        ),
        Wording(
            "float() argument must be a string or a",
            r"float\(\) argument must be a string or a (?:real )?number, not '(?P<type>\w{1,40})'",
        ),
        Wording(
            "int() argument must be a string", r"int\(\) argument must be a string.{0,60}?, not '(?P<type>\w{1,40})'"
        ),
        Wording("can only convert an array of size 1 to a Python scalar"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/keras-team/keras/issues/13896",
        "https://docs.python.org/3/library/exceptions.html#TypeError",
    ),
    rank=-2,
    general=True,
)
