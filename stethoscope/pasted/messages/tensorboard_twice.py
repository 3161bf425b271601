"""Two packages bring one plugin of TensorBoard."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    plugin = f"“{read.get('plugin')}”" if "plugin" in read else "A plugin"
    return Cause(
        f"{plugin} is registered twice: two TensorBoards are installed side by side (tensorboard and tb-nightly, or leavings of an older one).",
        Certainty.LIKELY,
        (
            Step(
                "See what is there, take all away, install one.",
                "pip list | grep -i -E 'tensorboard|tb-nightly|tf-nightly'\npip uninstall -y tensorboard tb-nightly tensorboard-plugin-wit && pip install tensorboard",
            ),
            Step(
                "Still there: remove the folders that pip left in site-packages, beginning with a ~ or named tensorboard-*.dist-info."
            ),
        ),
    )


MESSAGE = Message(
    id="tensorboard-twice",
    title="Two packages bring one plugin of TensorBoard",
    wordings=(Wording("Duplicate plugins for name", r"Duplicate plugins for name (?P<plugin>\w{1,40})"),),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorboard/issues/3592",
        "https://github.com/tensorflow/tensorboard/issues/5815",
        "https://github.com/tensorflow/tensorflow/issues/32384",
    ),
)
