"""The data ended before the steps that were asked for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    batches = f" ({read.get('batches')} batches)" if "batches" in read else ""
    if "bare" in read:
        return Cause(
            "The data ended while more was asked for: more steps than it has batches, or a loop that goes on after its end.",
            Certainty.LIKELY,
            (Step("Repeat it, or take what there is.", "dataset = dataset.repeat()\nfor batch in dataset: ..."),),
        )
    return Cause(
        f"steps_per_epoch times epochs asks for more batches{batches} than the data set or the generator gives (or the generator can be gone through once only), so the training stops early; in validation, validation_steps asks for too many.",
        Certainty.CERTAIN,
        (
            Step(
                "Leave the steps out: a data set with an end knows its length.",
                "model.fit(dataset, validation_data=validation, epochs=10)",
            ),
            Step(
                "Or repeat it, and keep the steps.",
                "model.fit(dataset.repeat(), steps_per_epoch=len(x) // batch_size, epochs=10)",
            ),
            Step(
                "A keras Sequence or generator: __len__ gives batches, not rows.",
                "def __len__(self):\n    return math.ceil(len(self.x) / self.batch_size)",
            ),
        ),
    )


MESSAGE = Message(
    id="data-ran-out",
    title="The data ended before the steps that were asked for",
    wordings=(
        Wording("OutOfRangeError: End of sequence", r"(?P<bare>End of sequence)"),
        Wording(
            "Your input ran out of data",
            r"Your input ran out of data; interrupting training\.(?:.{0,120}?\(in this case, (?P<batches>[\d.]{1,15}) batches\))?",
        ),
        Wording("ran out of data", r"(?P<bare>ran out of data)", unless="Your input ran out"),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.CURVES),
    sources=(
        "https://github.com/keras-team/keras-io/issues/285",
        "https://github.com/fizyr/keras-retinanet/issues/1449",
        "https://github.com/tensorflow/tensorflow/issues/64476",
    ),
    role=Role.WARNING,
)
