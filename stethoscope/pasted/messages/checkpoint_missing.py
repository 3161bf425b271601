"""There is no checkpoint under this name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = f"“{read.get('file')}”" if "file" in read else "The name"
    if "reason" in read:
        return Cause(
            f"{file} is no checkpoint of today's format: the name of one of its files (.data, .meta) was given instead of their common beginning, or it is another format.",
            Certainty.LIKELY,
            (
                Step(
                    "Give the beginning of the name, without .index, .data or .meta.",
                    "checkpoint.restore('runs/ckpt-100')",
                ),
            ),
        )
    return Cause(
        f"There is no whole checkpoint under {file}. A checkpoint is several files (ckpt-100.index, ckpt-100.data-…), named by what they have in common.",
        Certainty.LIKELY if read.says("Failed to get matching files on") else Certainty.CERTAIN,
        (
            Step("See what is there, and take the newest.", "tf.train.latest_checkpoint('runs')"),
            Step("The file “checkpoint” holds paths; after moving the folder they may be wrong."),
        ),
    )


MESSAGE = Message(
    id="checkpoint-missing",
    title="There is no checkpoint under this name",
    wordings=(
        Wording(".data-00000-of-", r"(?P<file>[^\s:;]{1,180})\.data-\d{5}-of-\d{5}; No such file"),
        Wording(
            "Unsuccessful TensorSliceReader constructor",
            r"Failed to (?:find any matching files for|get matching files on) (?P<file>[^\s:;]{1,200})",
        ),
        Wording("The passed save_path is not a valid checkpoint", r"not a valid checkpoint: (?P<file>\S{1,200})"),
        Wording("Unable to open table file", r"Unable to open table file (?P<file>[^:]{1,200}): (?P<reason>.{1,120})"),
        Wording("Couldn't find trained model at", r"find trained model at (?P<file>\S{1,180}?)\.?(?: |$)"),
        Wording("Couldn't match files for checkpoint", r"checkpoint (?P<file>\S{1,200})"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/tensor_slice_reader.cc",
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/training/saver.py",
    ),
)
