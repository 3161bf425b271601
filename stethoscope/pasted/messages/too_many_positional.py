"""More arguments were given by place than a function takes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function, found, wanted = read.get("function"), read.number("found"), read.number("wanted")
    counted = f" ({found} instead of {wanted}, “self” counted)" if found is not None and wanted is not None else ""
    name = f"{function}()" if function else "A layer"
    return Cause(
        f"{name} was given more values by place than it takes{counted}: a layer that joins got its inputs one by one instead of as a list, “self” or “training” is missing in a method of one's own, or the code is of another version in which the order was another.",
        Certainty.LIKELY,
        (
            Step(
                "Name the arguments, and hand several inputs over as one list.",
                "keras.layers.Conv2D(32, kernel_size=(3, 3))\nkeras.layers.Add()([a, b])",
            ),
            Step("In a class of one's own.", "def call(self, x, training=None):"),
            Step("See what it takes in this version.", "help(keras.layers.Conv2D)"),
        ),
    )


MESSAGE = Message(
    id="too-many-positional",
    title="More arguments were given by place than a function takes",
    wordings=(
        Wording("Layer can receive at most", r"receive at most (?P<wanted>\d{1,2}) positional arguments"),
        Wording(
            "positional arguments but",
            r"(?P<function>[\w.<>]{1,80})\(\) takes (?:from \d{1,2} to )?(?P<wanted>\d{1,2}) positional arguments? but (?P<found>\d{1,2}) (?:was|were) given",
        ),
        Wording(
            "positional argument but",
            r"(?P<function>[\w.<>]{1,80})\(\) takes (?P<wanted>\d{1,2}) positional argument but (?P<found>\d{1,2}) (?:was|were) given",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.LAYERS),
    sources=(
        "https://github.com/philipperemy/keras-attention/issues/64",
        "https://github.com/lllcho/CAPTCHA-breaking/issues/11",
    ),
    rank=-1,
)
