"""Several threads ask one generator."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A plain Python generator was asked for its next value while it was still making one: workers of fit, or a data set that reads in parallel, share it.",
        Certainty.LIKELY,
        (
            Step(
                "Best: rows by number, which any worker may ask for.",
                "class Rows(keras.utils.PyDataset):   # keras.utils.Sequence before Keras 3\n    def __len__(self): ...\n    def __getitem__(self, batch): ...",
            ),
            Step("Or one worker.", "model.fit(generator, workers=1, use_multiprocessing=False)"),
            Step(
                "Dataset.from_generator calls a function: it has to make a new generator in each call.",
                "tf.data.Dataset.from_generator(lambda: rows(), output_signature=signature)",
            ),
        ),
    )


MESSAGE = Message(
    id="generator-shared",
    title="Several threads ask one generator",
    wordings=(Wording("generator already executing"),),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/CVxTz/face_age_gender/issues/1", "https://github.com/google/sedpack/pull/33"),
)
