"""A file of records is damaged, or is none."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    place = read.number("place")
    if place == 0:
        return Cause(
            "The file fails at its first byte: it is no TFRecord file, or it is compressed and is read as if it were not.",
            Certainty.LIKELY,
            (
                Step("Compressed records: say how.", "tf.data.TFRecordDataset(path, compression_type='GZIP')"),
                Step("See how it begins.", "print(open(path, 'rb').read(64))"),
            ),
        )
    at = f" at byte {place:,}" if place is not None else ""
    return Cause(
        f"The records are damaged or cut off{at}: the writer was not closed, or the copy was interrupted.",
        Certainty.LIKELY,
        (
            Step(
                "Close the writer, or write it in a with block.",
                "with tf.io.TFRecordWriter(path) as writer:\n    writer.write(example)",
            ),
            Step("Go on without the damaged file.", "dataset = dataset.ignore_errors()"),
        ),
    )


MESSAGE = Message(
    id="record-damaged",
    title="A file of records is damaged, or is none",
    wordings=(
        Wording("corrupted record at", r"corrupted record at (?P<place>\d{1,18})"),
        Wording("truncated record at", r"truncated record at (?P<place>\d{1,18})"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/lib/io/record_reader.cc",),
)
