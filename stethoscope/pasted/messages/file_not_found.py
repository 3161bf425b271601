"""A file that is not there."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("subprocess.py", "_execute_child"):
        return Cause(
            f"The program “{read.get('file', 'that is called')}” is not found: it is not installed, or not in the PATH of this Python (or the folder it is started in is missing).",
            Certainty.LIKELY,
            (Step("See whether it is found.", "import shutil\nprint(shutil.which(program))"),),
        )
    file = read.get("file")
    named = f"“{file}”" if file else "A file"
    return Cause(
        f"{named} is not there (or, where it is to be written, its folder is not). Paths count from the folder in which the program was started, not from the script's own.",
        Certainty.LIKELY
        if "created" in read and not read.says("o such file", "cannot find the file", "cannot find the path")
        else Certainty.CERTAIN,
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
        Wording(
            "NewRandomAccessFile failed to Create/Open",
            r"failed to (?P<created>Create)/Open: (?P<file>[^:]{1,180}) :(?! ?(?:Access is denied|The process cannot access|Input/output))",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://docs.python.org/3/library/exceptions.html#FileNotFoundError",),
    rank=-1,
)
