"""A layer of one's own cannot be saved."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("layer_class", "A class of your own")
    arguments = read.get("arguments").replace("'self', ", "")
    listed = f" ({arguments})" if arguments else ""
    names = [name.strip(" '") for name in arguments.split(",") if name.strip(" '").isidentifier()] or ["units"]
    inside = ", ".join(f"'{name}': self.{name}" for name in names)
    return Cause(
        f"{kind} takes arguments{listed} and does not say how they are saved: a saved model holds settings, not Python objects. It shows at the first checkpoint.",
        Certainty.LIKELY if "bare" in read else Certainty.CERTAIN,
        (
            Step(
                "Return them from get_config.",
                f"def get_config(self):\n    return {{**super().get_config(), {inside}}}",
            ),
            Step("Arguments that are tensors, arrays or layers: keep what they are made of instead."),
            Step("Or save weights only.", "keras.callbacks.ModelCheckpoint('best.weights.h5', save_weights_only=True)"),
        ),
    )


MESSAGE = Message(
    id="no-get-config",
    title="A layer of one's own cannot be saved",
    wordings=(
        Wording(
            "override `get_config",
            r"Layer (?P<layer_class>\w{1,80}) (?:has arguments(?: \[(?P<arguments>[^\]]{1,160})\])?|was created by passing non-serializable argument values)",
        ),
        Wording(
            "was created by passing non-serializable argument values in `__init__()`",
            r"Object (?P<layer_class>\w{1,80}) was created",
        ),
        Wording("must override `get_config`"),
        Wording("Please implement `get_config()`"),
        Wording("Model subclasses must implement `get_config()`"),
        Wording("Learning rate schedule must override get_config"),
        Wording("raise NotImplementedError", r"(?P<bare>raise) NotImplementedError", beside="get_config"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/33947",
        "https://github.com/google-research/maxvit/issues/6",
        "https://github.com/mvoelk/keras_layers/issues/1",
    ),
)
