"""A class of transformers needs a framework that is not found."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name, library = read.get("name", "The class"), read.get("library", "TensorFlow or PyTorch")
    return Cause(
        f"{name} needs {library}, which transformers did not find: it is not installed in this Python, it is too old or too new for transformers (transformers 5 has no TensorFlow any more), or a notebook was not restarted after installing.",
        Certainty.LIKELY,
        (
            Step("Is it there?", 'python -c "import tensorflow; print(tensorflow.__version__)"'),
            Step("Versions that go together.", "python -m pip install 'transformers<5' tensorflow tf-keras"),
        ),
    )


MESSAGE = Message(
    id="transformers-needs-framework",
    title="A class of transformers needs a framework that is not found",
    wordings=(
        Wording(
            "but it was not found in your environment",
            r"(?P<name>\w{1,60}) requires the (?P<library>[\w ]{1,30}?) library but it was not found",
        ),
        Wording("None of PyTorch, TensorFlow"),
        Wording("At least one of TensorFlow 2.0 or PyTorch should be installed"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/huggingface/transformers/blob/main/src/transformers/utils/import_utils.py",),
)
