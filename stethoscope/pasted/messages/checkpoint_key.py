"""The checkpoint does not hold a variable of the graph."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    variable = f"“{read.get('variable').strip()}”" if "variable" in read else "A variable"
    return Cause(
        f"{variable} is in the program and not in the checkpoint: names or scopes differ, it is another architecture (another number of classes, another optimizer), or a checkpoint of TensorFlow 2 is read by TensorFlow 1's Saver.",
        Certainty.LIKELY,
        (
            Step(
                "See what the checkpoint holds.",
                "for name, shape in tf.train.list_variables('ckpt-100'):\n    print(name, shape)",
            ),
            Step(
                "Restore what is there only.",
                "saver = tf.compat.v1.train.Saver([v for v in variables if v.op.name in names])\ncheckpoint.restore(path).expect_partial()",
            ),
        ),
    )


MESSAGE = Message(
    id="checkpoint-key",
    title="The checkpoint does not hold a variable of the graph",
    wordings=(
        Wording(
            "not found in checkpoint files",
            r'Tensor name "(?P<variable>[\w/.:-]{1,200})" not found in checkpoint files',
        ),
        Wording(
            "This is most likely due to a Variable name or other graph key that is missing from the checkpoint",
            unless="No such file or directory",
        ),
        Wording("not found in checkpoint", r"Key (?P<variable>[\w/.:-]{1,200}) not found in checkpoint"),
        Wording(
            "Existing variables not in the checkpoint",
            r"Existing variables not in the checkpoint: (?P<variable>[\w/.:, -]{1,160}?) Variables names",
        ),
        Wording(
            "Unresolved object in checkpoint", r"Unresolved object in checkpoint: \(?(?P<variable>[\w/.()' :-]{1,120})"
        ),
        Wording("Some Python objects were not bound to checkpointed values", r"not bound to checkpointed values"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/models/issues/4992",
        "https://github.com/tensorflow/tensorflow/issues/10693",
        "https://github.com/google/seq2seq/issues/363",
    ),
)
