"""A NumPy array holds Python objects instead of numbers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "made" in read and "." not in read.get("type"):
        return Cause(
            f"A value of type {read.get('type')} cannot be made a tensor: None stands in it (a size that is not known, as x.shape[0] of an open axis), its parts have different lengths, or it is no number at all.",
            Certainty.LIKELY,
            (
                Step("A size that is not known yet: from the tensor.", "rows = tf.shape(x)[0]   # not x.shape[0]"),
                Step("See what it is.", "print(type(value), value)"),
            ),
        )
    kind = read.get("type")
    ragged = Step("Rows of different lengths: pad them.", "x = keras.utils.pad_sequences(x, maxlen=100)")
    numbers = Step(
        "Numbers in a table that is of type object: say the type; it names the value that is none.",
        "x = df[columns].astype('float32').to_numpy()",
    )
    look = Step("See what is inside.", "print(x.dtype, x.shape, {type(value) for value in x.ravel()[:1000]})")
    if kind in ("list", "numpy.ndarray", "ndarray", "tuple"):
        return Cause(
            f"The array has dtype object and holds values of type {kind}: its rows have different lengths or shapes, so NumPy could not make one block of numbers of them.",
            Certainty.LIKELY,
            (
                ragged,
                Step(
                    "Pictures of different sizes: resize them first.",
                    "x = np.stack([tf.image.resize(image, (224, 224)) for image in images])",
                ),
                look,
            ),
        )
    if kind in ("str", "NoneType"):
        return Cause(
            f"The array has dtype object and holds {'texts' if kind == 'str' else 'None, a value that is missing'}.",
            Certainty.CERTAIN,
            (
                numbers,
                Step(
                    "Texts that are categories: number them.",
                    "lookup = keras.layers.StringLookup(vocabulary=sorted(set(x)))",
                ),
                look,
            ),
        )
    if kind and not kind.startswith(("numpy", "pandas", "decimal", "datetime")) and "." in kind:
        return Cause(
            f"A {kind.rpartition('.')[2]} stands where an array or tensor is wanted: a data set is gone through by map, not handed to an operation; a layer or object is called first.",
            Certainty.LIKELY,
            (
                Step(
                    "map hands over the elements; apply the whole data set.",
                    "data = data.map(lambda x: tf.expand_dims(x, -1))",
                ),
                Step("See what it is.", "print(type(x))"),
            ),
        )
    said = f" (values of type {kind})" if kind else ""
    return Cause(
        f"The array has dtype object{said}: numbers of mixed types, values that are missing, or texts in one column made the whole table an array of objects.",
        Certainty.LIKELY,
        (numbers, look, ragged),
    )


MESSAGE = Message(
    id="object-array",
    title="A NumPy array holds Python objects instead of numbers",
    wordings=(
        Wording(
            "Failed to convert a NumPy array to a Tensor (Unsupported object type",
            r"Unsupported object type (?P<type>[\w.]{1,60})",
        ),
        Wording(
            "Failed to convert object of type",
            r"Failed to convert (?P<made>object) of type <class '(?P<type>[\w.]{1,60})'> to Tensor",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/santhisenan/DeepDefense/issues/4",
        "https://github.com/shenweichen/DeepCTR/issues/236",
        "https://github.com/pushpendughosh/Stock-market-forecasting/issues/7",
    ),
)
