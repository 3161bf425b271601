"""A file is no text in the encoding that is read."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    encoding, byte = read.get("encoding", "the encoding"), read.get("byte", "a byte")
    return Cause(
        f"A file is read as text in {encoding} and holds {byte}, which is none: a binary file was named where a text is wanted (a record for a label map, a .pb for a .pbtxt), the mode “rb” is missing, or the text was saved in another encoding. On Windows also the error of the system itself, in its own language, as for a path that is not there.",
        Certainty.POSSIBLE,
        (
            Step("Check that the path is there and is the file meant; label map and record are easily swapped."),
            Step("Models are bytes.", "graph_def = tf.compat.v1.GraphDef.FromString(open('model.pb', 'rb').read())"),
            Step("Texts: name the encoding.", "text = open('words.txt', encoding='utf-8').read()"),
        ),
    )


MESSAGE = Message(
    id="wrong-encoding",
    title="A file is no text in the encoding that is read",
    wordings=(
        Wording(
            "codec can't decode byte",
            r"'(?P<encoding>[\w-]{1,20})' codec can't decode byte (?P<byte>0x\w{2}) in position (?P<place>\d{1,12})",
            beside="ensorflow",
        ),
        Wording(
            "codec can't decode byte",
            r"'(?P<encoding>[\w-]{1,20})' codec can't decode byte (?P<byte>0x\w{2}) in position (?P<place>\d{1,12})",
            beside="keras",
        ),
        Wording(
            "codec can't decode byte",
            r"UnicodeDecodeError: '(?P<encoding>[\w-]{1,20})' codec can't decode byte (?P<byte>0x\w{2}) in position (?P<place>\d{1,12})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/TannerGilbert/Tensorflow-Object-Detection-API-Train-Model/issues/36",
        "https://github.com/tensorflow/models/issues/10471",
        "https://github.com/ankurtaly/Integrated-Gradients/issues/6",
    ),
)
