"""A value is taken apart that has no parts."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "a single value")
    if kind == "History":
        return Cause(
            "fit gives a History object; the numbers stand in its dictionary `history`.",
            Certainty.CERTAIN,
            (Step("Ask the dictionary.", "history = model.fit(x, y)\nprint(history.history['loss'])"),),
        )
    if kind in ("method", "function", "builtin_function_or_method"):
        return Cause(
            "Square brackets stand after a function: it has to be called, with round ones.",
            Certainty.LIKELY,
            (Step("Call it.", "weights = layer.get_weights()[0]   # not layer.get_weights[0]"),),
        )
    if kind in ("list", "string"):
        wanted = {"str": "a dictionary", "tuple": "an array"}.get(read.get("index"), "a dictionary or an array")
        return Cause(
            f"A {kind} is asked like {wanted}: what was loaded or returned is a {kind}, whose places are numbers.",
            Certainty.LIKELY,
            (
                Step("See what it is.", "print(type(thing), thing[:1])"),
                Step("Lists with two indices: an array.", "x = np.asarray(x)"),
            ),
        )
    if kind in ("Functional", "Sequential", "Model"):
        return Cause(
            f"A model ({kind}) stands where a list of layers, tensors or numbers is wanted.",
            Certainty.LIKELY,
            (Step("Its parts have names.", "model.layers, model.inputs, model.outputs, model.get_weights()"),),
        )
    number = kind in ("int", "float", "a single value") or kind.startswith("numpy.")
    return Cause(
        f"A value of type {kind} is taken apart"
        + (
            ": one number stands where a list, a tuple or a shape is wanted, as input_shape=(10) for (10,), or evaluate of a model without metrics."
            if number
            else ", and it has no parts."
        ),
        Certainty.LIKELY,
        (
            Step("See what it is.", "print(type(thing), thing)"),
            Step("A tuple of one value has a comma.", "keras.Input((10,))"),
        ),
    )


MESSAGE = Message(
    id="not-a-container",
    title="A value is taken apart that has no parts",
    wordings=(
        Wording(
            "object is not subscriptable",
            r"'(?P<type>int|float|numpy\.\w{1,20}|History|Functional|Sequential|Model|type|method|function|builtin_function_or_method|generator|zip|map|dict_keys|set|KerasTensor|PyCapsule|\w{1,40}Layer|\w{1,40}Generator)' object is not subscriptable",
        ),
        Wording(
            "object is not iterable",
            r"'(?P<type>int|float|bool|numpy\.\w{1,20}|History|Functional|Sequential|Model|type|method|function|ImageDataGenerator|\w{1,40}Layer)' object is not iterable",
        ),
        Wording(
            "cannot unpack non-iterable",
            r"cannot unpack non-iterable (?P<type>int|float|numpy\.\w{1,20}|History|Functional|Sequential) object",
        ),
        Wording(
            "list indices must be integers",
            r"(?P<type>list) indices must be integers(?: or slices)?, not (?P<index>\w{1,20})",
        ),
        Wording("string indices must be integers", r"(?P<type>string) indices must be integers"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://docs.python.org/3/library/exceptions.html#TypeError",),
    rank=-2,
    general=True,
)
