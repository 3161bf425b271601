"""An old Keras meets a new h5py."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("if weight_names:"):
        return Cause(
            "An old Keras (2.2 and before) asks whether a list of names is empty, and a newer h5py gives it as an array.",
            Certainty.LIKELY,
            (Step("The h5py of its time, or a newer Keras.", "pip install 'h5py<3' 'keras==2.2.5'"),),
        )
    if not read.says(
        "keras_version",
        "model_config",
        "training_config",
        "hdf5_format",
        "saving.py",
        "topology.py",
        "load_model",
        "load_weights",
    ):
        return Cause(
            "A text is decoded that is text already. If this came while a model was loaded: Keras before 2.4 (TensorFlow before 2.4) does so with h5py 3.",
            Certainty.POSSIBLE,
            (Step("Then an older h5py.", "pip install 'h5py<3'"),),
        )
    return Cause(
        "h5py 3 gives text where it gave bytes before, and this Keras (before 2.4) still decodes it.",
        Certainty.CERTAIN
        if read.says(
            "keras_version'].decode", "model_config.decode", "training_config.decode", "hdf5_format", "topology.py"
        )
        else Certainty.LIKELY,
        (
            Step("Take the h5py of its time.", "pip install 'h5py<3'"),
            Step("Or a newer TensorFlow.", "pip install -U tensorflow"),
        ),
    )


MESSAGE = Message(
    id="h5py-too-new",
    title="An old Keras meets a new h5py",
    wordings=(
        Wording("'str' object has no attribute 'decode'"),
        Wording("The truth value of an array with more than one element is ambiguous", beside="if weight_names:"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.DESCRIBE),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/44467",
        "https://github.com/xinyu1905/ATCNN/issues/2",
        "https://github.com/idealo/image-super-resolution/issues/228",
    ),
)
