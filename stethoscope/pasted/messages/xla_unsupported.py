"""XLA cannot compile an operation."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation = f"“{read.get('operation')}”" if "operation" in read else "an operation"
    target = f" ({read.get('target')})" if "target" in read else ""
    return Cause(
        f"XLA has no kernel for {operation}{target}: texts, ragged and sparse tensors, printing and shapes that depend on values are not compiled.",
        Certainty.CERTAIN,
        (
            Step(
                "Do not compile this function or model.",
                "model.compile(optimizer, loss, jit_compile=False)\n@tf.function(jit_compile=False)",
            ),
            Step(
                "Or take this part out of it: texts and look-ups into the data set.",
                "dataset = dataset.map(lambda text, label: (vectorize(text), label))",
            ),
        ),
    )


MESSAGE = Message(
    id="xla-unsupported",
    title="XLA cannot compile an operation",
    wordings=(
        Wording(
            "Detected unsupported operations when trying to compile graph",
            r"on (?P<target>XLA_\w{1,20}): (?P<operation>\w{1,80})",
        ),
        Wording("OpKernel for XLA_", r"No registered '(?P<operation>\w{1,80})' OpKernel for (?P<target>XLA_\w{1,20})"),
        Wording("Detected unsupported operations when trying to compile graph"),
    ),
    explain=_explain,
    ways=(ways.DEVICES,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/60203",
        "https://github.com/tensorflow/tensorflow/issues/52905",
        "https://github.com/NVIDIA/NVFlare/issues/3232",
    ),
)
