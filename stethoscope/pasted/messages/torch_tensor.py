"""Tensors of PyTorch were given to TensorFlow."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "card" in read:
        return Cause(
            "A tensor of PyTorch lies on the card, and NumPy reads the machine's own memory only.",
            Certainty.CERTAIN,
            (Step("Bring it over first.", "x = tensor.detach().cpu().numpy()"),),
        )
    return Cause(
        f"{'“' + read.get('argument') + '”' if 'argument' in read else 'An input'} is a tensor of PyTorch, and what takes it is of TensorFlow. Often a tokenizer was asked for PyTorch's tensors.",
        Certainty.CERTAIN,
        (
            Step("Ask for TensorFlow's.", "inputs = tokenizer(texts, padding=True, return_tensors='tf')   # not 'pt'"),
            Step("What is there already goes by way of NumPy.", "x = tf.constant(x.detach().cpu().numpy())"),
        ),
    )


MESSAGE = Message(
    id="torch-tensor",
    title="Tensors of PyTorch were given to TensorFlow",
    wordings=(
        Wording("Data of type <class 'torch.Tensor'> is not allowed", r"is accepted for (?P<argument>\w{1,60})"),
        Wording("Data of type <class 'torch.Tensor'> is not allowed"),
        Wording("with an unsupported type (<class 'torch.Tensor'>)"),
        Wording("can't convert cuda:0 device type tensor to numpy", r"(?P<card>cuda:0)", beside="tensorflow"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/gaoliwei1102/csdn_bert_classifier/issues/2",),
)
