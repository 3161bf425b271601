"""The model has another number of inputs than were given."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, found = read.number("wanted"), read.number("found")
    names = f" ({read.get('names')})" if "names" in read else ""
    if wanted is None or found is None:
        return Cause(
            "The model has another number of inputs than fit or predict was given.",
            Certainty.CERTAIN,
            (Step("See the inputs.", "print([i.name for i in model.inputs])"),),
        )
    told = f"{read.layer('The model')} has {wanted} input{'s' if wanted != 1 else ''}{names} and got {found}."
    if found > wanted:
        return Cause(
            f"{told} Often a tuple (x, y) is taken for two inputs, or a list of arrays for one array.",
            Certainty.LIKELY,
            (
                Step(
                    "Targets are an argument of their own; one array is an array, not a list.",
                    "model.fit(x, y)\nx = np.array(x)",
                ),
                Step("A data set gives pairs of (inputs, targets).", "print(dataset.element_spec)"),
            ),
        )
    return Cause(
        f"{told} Each input needs its array, in the order of the inputs or by name.",
        Certainty.CERTAIN,
        (
            Step("Give a dict by the names of the inputs.", "model.predict({'left': x_left, 'right': x_right})"),
            Step(
                "A data set gives a tuple of inputs inside the pair.",
                "dataset = tf.data.Dataset.from_tensor_slices(((x_left, x_right), y))",
            ),
        ),
    )


MESSAGE = Message(
    id="number-of-inputs",
    title="The model has another number of inputs than were given",
    wordings=(
        Wording(
            "input(s)",
            r"(?:Layer \"?(?P<layer>[\w.-]{1,80})\"? )?expects (?P<wanted>\d{1,4})(?: named)? input\(s\)(?: with keys \[(?P<names>[^\]]{0,200})\])?, but it received (?P<found>\d{1,4})",
        ),
        Wording(
            "input(s)",
            r"Layer ['\"]?(?P<layer>[\w.-]{1,80})['\"]? expected (?P<wanted>\d{1,4}) input\(s\)\. Received (?P<found>\d{1,4})",
        ),
        Wording(
            "the list of Numpy arrays that you are passing to your model is not the size the model expected",
            r"Expected to see (?P<wanted>\d{1,4}) array\(s\).{0,120}?but instead got the following list of (?P<found>\d{1,4})",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.DATA),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/input_spec.py",),
)
