"""cuDNN is older than TensorFlow was built for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    loaded, wanted = read.get("loaded", "an older one"), read.get("wanted", "a newer one")
    return Cause(
        f"cuDNN {loaded} is loaded, and this TensorFlow was built for {wanted}: the first number has to be the same, the second at least as high.",
        Certainty.CERTAIN,
        (
            Step(
                "Bring cuDNN to it, in the same environment.",
                f"pip install -U 'nvidia-cudnn-cu12>={wanted}'"
                if wanted[:1] == "9"
                else "pip install 'tensorflow[and-cuda]'",
            ),
            Step(
                "Two of them on one machine: see which is taken, a system's copy often stands before pip's.",
                "ldconfig -p | grep cudnn; echo $LD_LIBRARY_PATH",
            ),
            Step("Hosted notebooks: restart the runtime after installing."),
        ),
    )


MESSAGE = Message(
    id="cudnn-version",
    title="cuDNN is older than TensorFlow was built for",
    wordings=(
        Wording(
            "but source was compiled with",
            r"Loaded runtime CuDNN library: (?P<loaded>[\d.]{1,20})(?: \(compatibility version \d{1,6}\))? but source was compiled with:? (?P<wanted>[\d.]{1,20}[\d])",
        ),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DOCTOR),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/60913",
        "https://github.com/tensorflow/tensorflow/issues/39842",
        "https://github.com/Kaggle/docker-python/issues/1435",
    ),
)
