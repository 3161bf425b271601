"""None came where a value is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("path"):
        return Cause(
            "A path is None: a setting, an argument of the command line or an environment variable that gives it is not set.",
            Certainty.LIKELY,
            (Step("Print it before it is used.", "print(path)"),),
        )
    used = f" (“{read.get('attribute')}” was asked of it)" if "attribute" in read else ""
    return Cause(
        f"Something is None at that line{used}: a function without `return`, one that changes in place (list.sort, random.shuffle, a DataFrame with inplace=True), something that was not found (a file, a key, a layer), or an argument that was left out.",
        Certainty.LIKELY,
        (
            Step("See which name is None, then where it was made.", "print(type(thing))"),
            Step(
                "Keras: call of a layer and a generator have to give something back.",
                "def call(self, x):\n    return self.dense(x)",
            ),
        ),
    )


MESSAGE = Message(
    id="none-taken",
    title="None came where a value is wanted",
    wordings=(
        Wording("'NoneType' object is not iterable", r"'NoneType' object is not (?P<use>iterable)"),
        Wording("'NoneType' object is not subscriptable", r"'NoneType' object is not (?P<use>subscriptable)"),
        Wording("cannot unpack non-iterable NoneType object"),
        Wording("object of type 'NoneType' has no len()"),
        Wording("expected str, bytes or os.PathLike object, not NoneType", r"(?P<path>os\.PathLike)"),
        Wording("'NoneType' object has no attribute", r"'NoneType' object has no attribute '(?P<attribute>\w{1,60})'"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://docs.python.org/3/library/exceptions.html#TypeError",
        "https://github.com/keras-team/keras/issues/12849",
    ),
    rank=-3,
    general=True,
)
