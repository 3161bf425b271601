"""TensorFlow.js did not get the model's files."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "found" in read:
        return Cause(
            f"A weight of {read.get('shape')} has {read.get('wanted')} values and {read.get('found')} came: the .bin files beside model.json were not loaded whole; often a server answers with a page instead.",
            Certainty.LIKELY,
            (
                Step("Look at them in the browser's network view: status 200, full size."),
                Step(
                    "All shards belong beside model.json, where the server gives them out as they are.",
                    "ls -l web_model/   # model.json group1-shard1of4.bin …",
                ),
            ),
        )
    return Cause(
        "A file of JSON was asked for and a page of HTML came, most often “not found”: the address of model.json is wrong or it is not among the files that the server gives out.",
        Certainty.LIKELY,
        (
            Step(
                "Open the address in the browser; put the folder among the public files.",
                "const model = await tf.loadLayersModel('/model/model.json');",
            ),
        ),
    )


MESSAGE = Message(
    id="tfjs-files",
    title="TensorFlow.js did not get the model's files",
    wordings=(
        Wording(
            "the tensor should have",
            r"provided shape, (?P<shape>\[[\d,]{0,40}\]), the tensor should have (?P<wanted>\d{1,12}) values but has (?P<found>\d{1,12})",
        ),
        Wording("Unexpected token < in JSON at position 0"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tfjs/issues/6441",
        "https://github.com/tensorflow/tfjs/issues/807",
        "https://github.com/tensorflow/tfjs/issues/4120",
    ),
)
