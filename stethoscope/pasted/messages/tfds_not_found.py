"""A data set that tfds does not know."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = f"“{read.get('name')}”" if "name" in read else "The data set"
    return Cause(
        f"{name} is not among the data sets of the tensorflow_datasets that is installed, nor prepared in its folder: the name is misspelt, the version is older than the data set, or its own builder was not imported or data_dir points elsewhere.",
        Certainty.LIKELY,
        (
            Step(
                "See the names, and a newer version.",
                "print([n for n in tfds.list_builders() if 'part' in n])\npip install -U tensorflow-datasets",
            ),
            Step(
                "One of your own: build it, then name its folder (the one above the name).",
                "tfds build   # in the folder of the builder\ntfds.load('my_data', data_dir='~/tensorflow_datasets')",
            ),
        ),
    )


MESSAGE = Message(
    id="tfds-not-found",
    title="A data set that tfds does not know",
    wordings=(
        Wording("DatasetNotFoundError", r"Dataset (?P<name>[\w/:.-]{1,80}) not found"),
        Wording("Failed to construct dataset", r"Failed to construct dataset \"?(?P<name>[\w/:.-]{1,80})"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/google-deepmind/functa/issues/13",
        "https://github.com/google-research/meta-dataset/issues/119",
        "https://github.com/rail-berkeley/fmb/issues/6",
    ),
)
