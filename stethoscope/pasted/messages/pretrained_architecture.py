"""This version of transformers does not know the architecture."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "config" in read:
        return Cause(
            f"{read.get('auto', 'This class')} has no model for {read.get('config').rpartition('.')[2]}: the architecture has no such head, or none in TensorFlow (classes with TF), only in PyTorch.",
            Certainty.LIKELY,
            (
                Step(
                    "The message lists those that it has. Take another head, or the class of PyTorch.",
                    "from transformers import AutoModel   # instead of TFAutoModel",
                ),
            ),
        )
    kind = f"model_type “{read.get('name')}”" if "name" in read else "no model_type that is known"
    return Cause(
        f"The model's config.json says {kind}, which the installed transformers does not have: it is older than the model, or the model brings code of its own.",
        Certainty.LIKELY,
        (
            Step("Update it.", "python -m pip install -U transformers"),
            Step(
                "Models with code of their own are run only if you trust their owner.",
                "model = AutoModel.from_pretrained(name, trust_remote_code=True)",
            ),
        ),
    )


MESSAGE = Message(
    id="pretrained-architecture",
    title="This version of transformers does not know the architecture",
    wordings=(
        Wording("but Transformers does not recognize this architecture", r"model type `(?P<name>[\w.-]{1,60})` but"),
        Wording("Unrecognized model in", r"Unrecognized model in (?P<folder>[\w./-]{1,120})"),
        Wording(
            "Unrecognized configuration class",
            r"Unrecognized configuration class <class '(?P<config>[\w.]{1,120})'> for this kind of (?:Auto)?[mM]odel:? (?P<auto>\w{1,60})",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/InternRobotics/InternManip/issues/12",
        "https://github.com/huggingface/transformers/blob/main/src/transformers/models/auto/configuration_auto.py",
    ),
)
