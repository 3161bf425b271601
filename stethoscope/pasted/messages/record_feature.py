"""A record does not hold the feature that is read."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    feature = read.get("feature", "A feature").strip()
    return Cause(
        f"“{feature}” is asked for and the records do not hold it under this name and type: the description of the features differs from what was written"
        + (", in its type or in how many values it has." if "unparsed" in read else "."),
        Certainty.LIKELY if "unparsed" in read else Certainty.CERTAIN,
        (
            Step(
                "See what one record holds.",
                "raw = next(iter(tf.data.TFRecordDataset(path)))\nprint(tf.train.Example.FromString(raw.numpy()))",
            ),
            Step(
                "What some records lack needs a default value; lists of open length are VarLenFeature.",
                f"'{feature}': tf.io.FixedLenFeature([], tf.string, default_value='')",
            ),
        ),
    )


MESSAGE = Message(
    id="record-feature",
    title="A record does not hold the feature that is read",
    wordings=(
        Wording(
            "is required but could not be found", r"Feature: (?P<feature>[^(]{1,80}?) \(data type: (?P<type>\w{1,20})\)"
        ),
        Wording("Data types don't match", r"Key: (?P<feature>[^.,]{1,80})[.,] {1,2}Data types don't match"),
        Wording(
            "Can't parse serialized Example",
            r"(?:Key: (?P<feature>[^.,]{1,80})[.,].{0,40}?)?(?P<unparsed>Can't parse) serialized",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/example_proto_fast_parsing.cc",
    ),
)
