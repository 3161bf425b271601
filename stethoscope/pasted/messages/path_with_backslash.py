"""A path of Windows that Python or the system does not take."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("letter") in ("x", "u", "N"):
        return Cause(
            f"“\\{read.get('letter')}” in a text of Python begins a character by its number or name; as a part of a path it is not whole.",
            Certainty.CERTAIN,
            (
                Step(
                    "Write it with slashes, or with r before the quote.",
                    "folder = 'D:/data/x1'\nfolder = r'D:\\data\\x1'",
                ),
            ),
        )
    raw = Step(
        "Write it with slashes, or with r before the quote.", "folder = 'D:/data/train'\nfolder = r'D:\\data\\train'"
    )
    if "escape" in read:
        return Cause(
            "“\\U” in a text of Python begins a character by its number, as in 'C:\\Users': the file was not read further.",
            Certainty.CERTAIN if read.get("letter") == "U" else Certainty.LIKELY,
            (raw,),
        )
    file = read.get("file")
    return Cause(
        f"Windows does not take the path{f' {file}' if file else ''}: “\\t”, “\\n”, “\\b” in it are single characters, or it has a colon, a question mark or mixed slashes, or it is not there.",
        Certainty.LIKELY,
        (
            raw,
            Step(
                "See it as Python has it, and whether it is there.",
                "import os\nprint(repr(folder), os.path.exists(folder))",
            ),
        ),
    )


MESSAGE = Message(
    id="path-with-backslash",
    title="A path of Windows that Python or the system does not take",
    wordings=(
        Wording("[WinError 123]", r"\[WinError (?P<code>123)\]"),
        Wording("The filename, directory name, or volume label syntax is incorrect"),
        Wording(
            "'unicodeescape' codec can't decode bytes",
            r"(?P<escape>unicodeescape)(?:.{0,120}?(?:truncated|malformed) \\(?P<letter>[UuxN]))?",
        ),
        Wording(
            "[WinError 3] The system cannot find the path specified",
            r"cannot find the path specified: '(?P<file>[^'\n]{1,180})'",
        ),
        Wording("[Errno 22] Invalid argument:", r"\[Errno 22\] Invalid argument: '(?P<file>[^'\n]{1,180})'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/keras-team/keras/issues/14802",
        "https://docs.python.org/3/reference/lexical_analysis.html#escape-sequences",
    ),
    rank=-1,
)
