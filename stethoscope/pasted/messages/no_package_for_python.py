"""There is no such package for this Python."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    package = f"“{read.get('package')}”" if "package" in read else "The package"
    return Cause(
        f"pip finds no build of {package} for this machine: each version of TensorFlow is built for a few versions of Python (2.x of today: 3.10 to 3.13; 1.15: up to 3.7), for 64 bits, and for Linux, macOS and Windows only; an old pip does not see newer builds either.",
        Certainty.LIKELY,
        (
            Step(
                "See version and width of Python.",
                "python -c \"import sys, struct; print(sys.version, struct.calcsize('P') * 8)\"",
            ),
            Step(
                "A newer pip, then a Python of its time.",
                "python -m pip install -U pip\nuv venv --python 3.12 && uv pip install tensorflow",
            ),
            Step("tensorflow-gpu is no more: the package for cards is this.", "pip install 'tensorflow[and-cuda]'"),
        ),
    )


MESSAGE = Message(
    id="no-package-for-python",
    title="There is no such package for this Python",
    wordings=(
        Wording(
            "Could not find a version that satisfies the requirement",
            r"satisfies the requirement (?P<package>(?:tensorflow|tf|keras|tflite|ai-edge)[\w.<>=!~,\[\]-]{0,60})",
        ),
        Wording(
            "No matching distribution found for",
            r"found for (?P<package>(?:tensorflow|tf|keras|tflite|ai-edge)[\w.<>=!~,\[\]-]{0,60})",
        ),
        Wording(
            "is not a supported wheel on this platform",
            r"(?P<package>(?:tensorflow|tf|keras|tflite)[\w.+-]{0,120}?\.whl) is not a supported wheel",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/32762",
        "https://github.com/samdark/yiiframework-ru/issues/205",
        "https://github.com/JustinaPetr/Weatherbot_Tutorial/issues/7",
        "https://github.com/RasaHQ/starter-pack-rasa-stack/issues/22",
    ),
)
