"""The graph has no tensor of this name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tensor = f"“{read.get('tensor')}”" if "tensor" in read else "The name"
    return Cause(
        f"{tensor} is in no operation of the graph that was loaded: the file is of another model or was exported with other names, import_graph_def put a prefix before them (import/, net/), or TensorFlow 2 drops one.",
        Certainty.LIKELY,
        (
            Step("See the names there are.", "for operation in graph.get_operations():\n    print(operation.name)"),
            Step("Import without a prefix.", "tf.import_graph_def(graph_def, name='')"),
        ),
    )


MESSAGE = Message(
    id="tensor-name-missing",
    title="The graph has no tensor of this name",
    wordings=(
        Wording(
            "refers to a Tensor which does not exist",
            r"[Tt]he name '?(?P<tensor>[^' ]{1,160})'? refers to a Tensor which does not exist",
        ),
        Wording(
            "refers to an Operation not in the graph",
            r"[Tt]he name '?(?P<tensor>[^' ]{1,160})'? refers to an Operation not in the graph",
        ),
        Wording("is not in graph", r"(?P<tensor>[\w/.:-]{1,160}) is not in graph"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/nwojke/mcf-tracker/issues/8",
        "https://github.com/LZQthePlane/Online-Realtime-Action-Recognition-based-on-OpenPose/issues/68",
        "https://github.com/seasonSH/Probabilistic-Face-Embeddings/issues/4",
    ),
)
