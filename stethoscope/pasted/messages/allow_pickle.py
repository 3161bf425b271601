"""An .npy or .npz file holds Python objects."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    old = read.says("imdb", "reuters", "keras/datasets")
    told = " An older Keras loads imdb and reuters so." if old else ""
    return Cause(
        f"The file holds objects of Python (rows of different lengths, lists, texts), which NumPy does not unpickle unasked since 1.16.3, as that runs code of whoever wrote it; or it is no .npy file at all.{told}",
        Certainty.LIKELY,
        (
            Step("A file of your own: say so.", "x = np.load('rows.npy', allow_pickle=True)"),
            Step("Better: save rows of one length as numbers.", "np.save('rows.npy', np.asarray(rows, 'float32'))"),
            Step("imdb or reuters of Keras: a newer version.", "pip install -U tensorflow"),
        ),
    )


MESSAGE = Message(
    id="allow-pickle",
    title="An .npy or .npz file holds Python objects",
    wordings=(
        Wording("Object arrays cannot be loaded when allow_pickle=False"),
        Wording("Cannot load file containing pickled data when allow_pickle=False"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/TUW-GEO/ismn/issues/10",
        "https://github.com/googlecolab/colabtools/issues/532",
        "https://github.com/keras-team/keras/pull/12714",
    ),
)
