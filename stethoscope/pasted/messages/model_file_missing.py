"""The model's file is not there (or is no .keras file)."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = f"“{read.get('file')}”" if "file" in read else "The file"
    if read.get("errno") not in ("", "2"):
        return Cause(
            f"{file} cannot be opened (error {read.get('errno')} of the system: {'it may not be read by this user' if read.get('errno') == '13' else 'another program has it open' if read.get('errno') in ('11', '35') else 'see its number'}).",
            Certainty.CERTAIN,
            (Step("See its rights, and who has it open.", "ls -l model.h5; lsof model.h5"),),
        )
    zipped = (
        " A file that is there but is no zip (a pointer of Git LFS, an .h5 that was renamed) gives this message, too."
        if read.says("`.keras` zip file")
        else ""
    )
    return Cause(
        f"{file} is not there. Paths count from the folder in which the program was started, not from the script's own.{zipped}",
        Certainty.LIKELY,
        (
            Step(
                "See where it is looked for.",
                "import pathlib\nprint(pathlib.Path.cwd(), pathlib.Path('models/best.keras').exists())",
            ),
            Step("Is it what it says?", "print(open(path, 'rb').read(60))   # b'PK' is .keras, b'\\x89HDF' is .h5"),
        ),
    )


MESSAGE = Message(
    id="model-file-missing",
    title="The model's file is not there (or is no .keras file)",
    wordings=(
        Wording(
            "Please ensure the file is an accessible `.keras` zip file",
            r"File not found: filepath=(?P<file>[^\n]{1,200}?)\. Please ensure",
        ),
        Wording("unable to open file: name = ", r"name = '(?P<file>[^']{1,200})', errno = (?P<errno>\d{1,3})"),
        Wording("Unable to open file (unable to open file", r"Unable to open file"),
        Wording("No file or directory found at", r"No file or directory found at (?P<file>\S{1,200})"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/unicode-org/lstm_word_segmentation/issues/28",),
)
