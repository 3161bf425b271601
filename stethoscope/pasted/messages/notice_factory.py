"""A factory was registered twice."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A library of CUDA is registered twice while TensorFlow starts. It is a flaw of some builds and harms nothing.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-factory",
    title="A factory was registered twice",
    wordings=(
        Wording("Attempting to register factory for plugin", r"plugin (?P<plugin>cu\w{1,10})"),
        Wording("computation placer already registered"),
        Wording("Unable to register cuDNN factory"),
        Wording("Unable to register cuBLAS factory"),
        Wording("Unable to register cuFFT factory"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/62075",
        "https://github.com/volnas10/DeepFaceLab-RTX5000/issues/2",
    ),
    role=Role.NOTICE,
)
