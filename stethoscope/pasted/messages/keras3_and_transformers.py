"""transformers wants Keras 2."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The TensorFlow classes of Hugging Face's transformers are written for Keras 2, and TensorFlow brings Keras 3 since 2.16. They use Keras 2 where it is installed as tf_keras.",
        Certainty.CERTAIN,
        (
            Step("Install Keras 2 beside it, in the version of TensorFlow.", "pip install tf-keras"),
            Step(
                "Where your own code is to be Keras 2 too, say so before TensorFlow is imported.",
                'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"',
            ),
            Step(
                "If no TensorFlow is meant to be used at all, keep transformers from loading it.",
                'import os\nos.environ["USE_TF"] = "0"',
            ),
        ),
    )


MESSAGE = Message(
    id="keras3-and-transformers",
    title="transformers wants Keras 2",
    wordings=(
        Wording("Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/huggingface/transformers/issues/27377",
        "https://github.com/huggingface/transformers/issues/36410",
    ),
)
