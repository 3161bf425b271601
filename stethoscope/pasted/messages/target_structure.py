"""The targets do not go with the outputs by name or by structure."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "names" in read:
        return Cause(
            f"compile was given losses or metrics under a name that no output has: {read.get('names')}",
            Certainty.CERTAIN,
            (Step("See the names of the outputs.", "print(model.output_names)"),),
        )
    if read.says("`metrics` argument", "`loss` argument", "`sample_weight`", "`weighted_metrics` argument"):
        return Cause(
            "The model has several outputs, and losses, metrics or weights were not given for them as the message says.",
            Certainty.CERTAIN,
            (
                Step(
                    "By the names of the outputs.",
                    "model.compile('adam', loss={'a': 'mse', 'b': 'mse'}, metrics={'a': ['mae'], 'b': ['mae']})",
                ),
            ),
        )
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
            r"any Model output: (?P<names>.{1,80}?)(?:\. Valid|$)",
        ),
        Wording("doesn't match the structure of `y_pred`"),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.DESCRIBE),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/trainers/compile_utils.py",),
)
