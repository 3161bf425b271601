"""The targets do not go with the outputs by name or by structure."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    told = f" Targets: {read.get('targets')}; outputs: {read.get('outputs')}." if "outputs" in read else ""
    return Cause(
        f"A model with several outputs wants a target for each, in the same structure: a dict by the names of the output layers, or a list in their order.{told}",
        Certainty.CERTAIN,
        (
            Step("See the names of the outputs.", "print(model.output_names)"),
            Step(
                "Give targets and losses under these names.",
                "model.compile('adam', loss={'a': 'mse', 'b': 'mse'})\nmodel.fit(x, {'a': y_a, 'b': y_b})",
            ),
        ),
    )


MESSAGE = Message(
    id="target-structure",
    title="The targets do not go with the outputs by name or by structure",
    wordings=(
        Wording(
            "y_true and y_pred have different structures",
            r"y_true: (?P<targets>.{1,160}?) y_pred: (?P<outputs>.{1,160}?)(?: Traceback|$)",
        ),
        Wording("For a model with multiple outputs"),
        Wording(
            "Found unexpected losses or metrics that do not correspond to any Model output",
            r"any Model output: (?P<targets>\S{1,80})",
        ),
        Wording("doesn't match the structure of `y_pred`"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.DESCRIBE),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/trainers/compile_utils.py",),
)
