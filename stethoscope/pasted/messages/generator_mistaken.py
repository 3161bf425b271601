"""The generator was taken for what it makes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_OF_BATCHES = (
    "shape",
    "dtype",
    "ndim",
    "class_indices",
    "classes",
    "samples",
    "n",
    "next",
    "batch_size",
    "image_shape",
    "labels",
)
"""What an iterator of batches or an array has."""


def _explain(read: Read) -> Cause:
    if read.get("type") == "ImageDataGenerator" and read.get("attribute").startswith("flow"):
        return Cause(
            f"ImageDataGenerator has no “{read.get('attribute')}” in this version of Keras, or it is misspelt.",
            Certainty.LIKELY,
            (Step("See what it has.", "print([name for name in dir(generator) if name.startswith('flow')])"),),
        )
    if read.get("type") == "DirectoryIterator":
        return Cause(
            "The name holds what flow_from_directory returned, no longer the generator: it was overwritten (often by running a cell twice), or the two names were mixed up.",
            Certainty.CERTAIN,
            (
                Step(
                    "Two names.",
                    "generator = ImageDataGenerator(rescale=1 / 255)\ntrain = generator.flow_from_directory('train')",
                ),
            ),
        )
    return Cause(
        "An ImageDataGenerator only knows how to change pictures; the batches come from what its flow, flow_from_directory or flow_from_dataframe returns, and that has to be given to fit.",
        Certainty.LIKELY
        if "attribute" in read and not read.says(*(f"'{name}'" for name in _OF_BATCHES))
        else Certainty.CERTAIN,
        (
            Step(
                "Keep what it returns.",
                "train = generator.flow_from_directory('train', target_size=(224, 224))\nmodel.fit(train, epochs=5)",
            ),
        ),
    )


MESSAGE = Message(
    id="generator-mistaken",
    title="The generator was taken for what it makes",
    wordings=(
        Wording(
            "'ImageDataGenerator' object has no attribute",
            r"'(?P<type>ImageDataGenerator)' object has no attribute '(?P<attribute>\w{1,40})'",
        ),
        Wording(
            "object of type 'ImageDataGenerator' has no len()",
            r"object of type '(?P<type>ImageDataGenerator)' has no len",
        ),
        Wording(
            "'ImageDataGenerator' object is not",
            r"'(?P<type>ImageDataGenerator)' object is not (?:iterable|an iterator|subscriptable)",
        ),
        Wording(
            "'DirectoryIterator' object has no attribute 'flow",
            r"'(?P<type>DirectoryIterator)' object has no attribute '(?P<attribute>flow\w{0,30})'",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/34795",
        "https://github.com/keras-team/keras/issues/12188",
        "https://github.com/tensorfreitas/DCGAN-for-Bird-Generation/issues/1",
    ),
)
