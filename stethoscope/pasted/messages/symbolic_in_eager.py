"""A tensor of the model's graph is used where values are wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = f"“{read.get('tensor')}”" if "tensor" in read else "a tensor of the model"
    learning = read.get("tensor").startswith("keras_learning_phase")
    more = (
        " This one is the flag for training: a model with dropout or batch normalisation of keras is called inside of tf.function code."
        if learning
        else ""
    )
    return Cause(
        f"fit (or a function of TensorFlow 2) runs with values, and the loss, metric or layer uses {named}, which has none: a loss that reaches for an input, a mean or a layer's output from outside of its arguments.{more}",
        Certainty.LIKELY,
        (
            Step("Add such a loss inside of the model.", "model.add_loss(kl_loss(mean, log_var))"),
            Step("Or hand it over as an output or in y_true, or write train_step."),
            Step("Old code as it is.", "tf.compat.v1.disable_eager_execution()   # first line after the import"),
        ),
    )


MESSAGE = Message(
    id="symbolic-in-eager",
    title="A tensor of the model's graph is used where values are wanted",
    wordings=(
        Wording(
            "Inputs to eager execution function cannot be Keras symbolic tensors",
            r"but found \[<tf\.Tensor '(?P<tensor>[^']{1,120})'",
        ),
        Wording("Inputs to eager execution function cannot be Keras symbolic tensors"),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.CHECK),
    sources=(
        "https://github.com/HenningBuhl/VQ-VAE_Keras_Implementation/issues/2",
        "https://github.com/tensorflow/tensorflow/issues/38056",
        "https://github.com/tensorflow/tensorflow/issues/34944",
    ),
)
