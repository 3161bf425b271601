"""A file or folder may not be written or read."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = f"“{read.get('file').strip()}”" if "file" in read else "A file or folder"
    return Cause(
        f"The system refuses {file}: the program's user may not write (or read) there, a folder was named where a file is wanted, or on Windows another program has it open. A path that begins with / is at the top of the disk.",
        Certainty.LIKELY,
        (
            Step("See whose it is, and whether it is a folder.", "ls -ld path"),
            Step("Write below a folder of your own.", "model.save('runs/model.keras')   # not '/models/…'"),
            Step(
                "In containers: run as your user, and mount a folder that it owns.", "docker run -u $(id -u):$(id -g) …"
            ),
        ),
    )


MESSAGE = Message(
    id="permission-denied",
    title="A file or folder may not be written or read",
    wordings=(
        Wording(
            "PermissionDeniedError",
            r"PermissionDeniedError:? (?:\(see above for traceback\): )?(?:\{\{.{1,80}?\}\} ?)?(?P<file>[^;\n]{1,160}?)(?:;| Permission|$)",
        ),
        Wording("[Errno 13] Permission denied", r"Permission denied: '(?P<file>[^'\n]{1,180})'"),
        Wording("errno = 13, error message = 'Permission denied'", r"name = '(?P<file>[^']{1,180})'"),
        Wording("; Permission denied", r"(?P<file>[^\s;:]{1,180}); Permission denied"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/hx173149/C3D-tensorflow/issues/105",
        "https://github.com/tensorflow/tensorflow/issues/33273",
        "https://github.com/thtrieu/darkflow/issues/876",
    ),
)
