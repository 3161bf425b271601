"""A file that is not there."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = read.get("file")
    named = f"“{file}”" if file else "A file"
    return Cause(
        f"{named} is not there. Paths count from the folder in which the program was started, not from the script's own.",
        Certainty.CERTAIN,
        (
            Step(
                "See where it is looked for.", "import pathlib\nprint(pathlib.Path.cwd(), pathlib.Path(path).exists())"
            ),
            Step("Count from the script.", "root = pathlib.Path(__file__).parent"),
        ),
    )


MESSAGE = Message(
    id="file-not-found",
    title="A file that is not there",
    wordings=(
        Wording(
            "; No such file or directory",
            r"(?:transformation with iterator: [\w:\[\]]{1,120}: |NOT_FOUND: |}} )?(?P<file>[^\s:;][^:;]{0,180}); No such file or directory",
        ),
        Wording("[Errno 2] No such file or directory", r"No such file or directory: '(?P<file>[^'\n]{1,180})'"),
        Wording("NewRandomAccessFile failed to Create/Open", r"failed to Create/Open: (?P<file>[^:]{1,180}) :"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://docs.python.org/3/library/exceptions.html#FileNotFoundError",),
    rank=-1,
)
