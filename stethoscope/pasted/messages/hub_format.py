"""A hub's module was not read."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    module = f"“{read.get('module')}”" if "module" in read else "The module"
    return Cause(
        f"{module} holds no module in the format that is read: it is of the other format (hub.Module reads those of TensorFlow 1, hub.load and KerasLayer SavedModels), the path is wrong, or a download was cut off and the cache keeps what is left of it.",
        Certainty.LIKELY,
        (
            Step("TensorFlow 2.", "layer = hub.KerasLayer(url)   # not hub.Module(url)"),
            Step("Empty the cache, then load again.", "rm -r /tmp/tfhub_modules   # or the folder in TFHUB_CACHE_DIR"),
            Step("A local path is the folder that holds saved_model.pb."),
        ),
    )


MESSAGE = Message(
    id="hub-format",
    title="A hub's module was not read",
    wordings=(
        Wording("does not appear to be a valid module", r"(?P<module>\S{1,200}) does not appear to be a valid module"),
        Wording("Missing implementation that supports: loader", r"loader\(\*\('(?P<module>[^']{1,200})'"),
        Wording("contains neither 'saved_model.pb' nor 'saved_model.pbtxt'", r"(?P<module>\S{1,200}) contains neither"),
        Wording("Trying to load a model of incompatible/unknown type"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/hub/issues/212", "https://github.com/tensorflow/hub/issues/410"),
)
