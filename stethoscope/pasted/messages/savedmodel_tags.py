"""A SavedModel holds several graphs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    tags = f" It has {read.get('tags')}." if "tags" in read else ""
    return Cause(
        f"The SavedModel holds several graphs, and which one to load was not said.{tags} Modules of TensorFlow 1 have one for inference (no tags) and one for training.",
        Certainty.CERTAIN,
        (
            Step("Name one.", "module = tf.saved_model.load(folder, tags=[])   # or tags=['train']"),
            Step(
                "From a hub: a newer tensorflow_hub takes tags, and newer versions of a module need none.",
                "hub.KerasLayer(url, tags=[])",
            ),
        ),
    )


MESSAGE = Message(
    id="savedmodel-tags",
    title="A SavedModel holds several graphs",
    wordings=(
        Wording(
            "requires a 'tags=' argument if there is more than one MetaGraph",
            r"with tag sets (?P<tags>\[.{1,120}?\]\])",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/tensorflow/hub/issues/379", "https://github.com/tensorflow/tensorflow/issues/33083"),
)
