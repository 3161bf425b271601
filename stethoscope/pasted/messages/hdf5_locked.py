"""An HDF5 file that another process has open."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "HDF5 locks a file that is open, and another process (or another handle of this one) has it open: a second training that writes the same checkpoint, a notebook that was not closed, or a network file system without locks.",
        Certainty.LIKELY,
        (
            Step("See who has it open, and end it.", "fuser -v model.h5"),
            Step(
                "A name of its own for each run.", "keras.callbacks.ModelCheckpoint(f'best-{os.getpid()}.weights.h5')"
            ),
            Step(
                "A file system that cannot lock: turn locking off, before h5py is imported. Only one process may write then.",
                'import os\nos.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"',
            ),
        ),
    )


MESSAGE = Message(
    id="hdf5-locked",
    title="An HDF5 file that another process has open",
    wordings=(
        Wording("unable to lock file", r"unable to lock file, errno = (?P<errno>\d{1,4})"),
        Wording("file locking disabled on this file system"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/11796", "https://github.com/qqwweee/keras-yolo3/issues/443"),
)
