"""An axis of the input has another length than the layer was built for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording, elements, shown


def _explain(read: Read) -> Cause:
    axis, wanted, shape = read.number("axis"), read.number("wanted"), read.shape("shape")
    if axis is None or wanted is None or shape is None:
        return Cause(
            "A layer's weights were made for one length of an axis, and data with another length came.",
            Certainty.CERTAIN,
            (Step("Look at both.", "print(x.shape, model.input_shape)"),),
        )
    got = shape[axis] if -len(shape) <= axis < len(shape) else None
    rest = elements(shape[1:])
    told = f"{read.layer('This layer')} was built for {wanted} values along axis {axis}, and the data is {shown(shape)}: {got} there."
    look = Step("Look at what comes in and what is wanted.", "print(x.shape, model.input_shape)")
    if rest == wanted and len(shape) > 2:
        return Cause(
            f"{told} {' × '.join(str(size) for size in shape[1:])} is {wanted}: the data is not flattened.",
            Certainty.CERTAIN,
            (
                Step(
                    "Flatten in the model, or before it.",
                    "keras.layers.Flatten()   # first layer\nx = x.reshape(len(x), -1)",
                ),
                look,
            ),
        )
    if (got == 1 and wanted == 3) or (got == 3 and wanted == 1) or (got == 4 and wanted == 3):
        return Cause(
            f"{told} The pictures have {got} channel{'s' if got != 1 else ''} and the model wants {wanted}.",
            Certainty.LIKELY,
            (
                Step(
                    "Read them with the channels of the training.",
                    f'keras.utils.image_dataset_from_directory(folder, color_mode="{"rgb" if wanted == 3 else "grayscale"}")',
                ),
                look,
            ),
        )
    if got == 1 and shape[0] == wanted and len(shape) == 2:
        return Cause(
            f"{told} It is one sample without the axis of rows.",
            Certainty.LIKELY,
            (Step("Add the axis of rows.", "x = x[None]"), look),
        )
    return Cause(
        f"{told} The number of features (columns, channels, the size of the picture before a Dense layer) is not the one that the layer was built for.",
        Certainty.CERTAIN,
        (look, Step("Prepare the data as for the training: same columns, same size, same encoders, fitted once.")),
    )


MESSAGE = Message(
    id="input-axis",
    title="An axis of the input has another length than the layer was built for",
    wordings=(
        Wording(
            "of input shape to have value",
            rf"expected axis (?P<axis>-?\d{{1,2}}) of input shape to have value (?P<wanted>\d{{1,12}}),? but (?:received|got) (?:input with )?shape (?P<shape>{SHAPE})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.LAYERS),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/input_spec.py",),
)
