"""The inputs were given under other names or in another structure."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("No data provided for"):
        return Cause(
            f"Nothing was given for “{read.get('missing', 'one of them')}”: a model with several inputs or outputs needs an array for each, as a list in their order or as a dictionary with the names of their layers.",
            Certainty.CERTAIN,
            (
                Step("See the names.", "print(model.input_names, model.output_names)"),
                Step("One for each.", "model.fit({'left': left, 'right': right}, {'price': price, 'kind': kind})"),
            ),
        )
    missing = f" “{read.get('missing')}” is missing." if "missing" in read else ""
    lists = (
        f" It wants {read.get('wanted')} and got {read.get('given')}." if "wanted" in read and "given" in read else ""
    )
    return Cause(
        f"The data and the model's inputs do not go together by name or by structure.{missing}{lists} The keys of a dict are the names of the Input layers; a list goes by their order.",
        Certainty.CERTAIN,
        (
            Step("See the names the model has.", "print([i.name for i in model.inputs])"),
            Step(
                "Give the data under these names, or name the inputs.",
                "keras.Input((3,), name='left')\nmodel.fit({'left': x_left, 'right': x_right}, y)",
            ),
        ),
    )


MESSAGE = Message(
    id="input-structure",
    title="The inputs were given under other names or in another structure",
    wordings=(
        Wording(
            "Missing data for input",
            r"Missing data for input \"?(?P<missing>[\w./-]{1,80})\"?\. You passed a data dictionary with keys \[(?P<given>[^\]]{0,300})\]\. Expected the following keys: \[(?P<wanted>[^\]]{0,300})\]",
        ),
        Wording(
            "The structure of `inputs` doesn't match the expected structure",
            r"Expected: (?P<wanted>.{1,160}?) Received: (?P<given>.{1,160}?)(?: Traceback|$|\n)",
        ),
        Wording("The structure of `inputs` doesn't match the expected structure"),
        Wording("No data provided for", r"No data provided for \"?(?P<missing>[\w./-]{1,80})\"?"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.DATA),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/models/functional.py",),
)
