"""The file was cut off."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    size, wanted = read.number("bytes"), read.number("wanted")
    if read.says("File is not a zip file"):
        return Cause(
            "A .keras file is a zip, and this one is none, or is cut off: an interrupted download or save, a pointer of Git LFS, or another format under this name.",
            Certainty.LIKELY,
            (
                Step("See how it begins (b'PK' is a zip).", "print(open('model.keras', 'rb').read(60))"),
                Step("Copy or save it again."),
            ),
        )
    told = (
        f"The file has {size:,} bytes and says that it has {wanted:,}."
        if size and wanted
        else "The file ends before its end."
    )
    return Cause(
        f"{told} The download, the copy or the save was interrupted, or it is still being written.",
        Certainty.CERTAIN if read.says("runcated") else Certainty.LIKELY,
        (
            Step("Copy it again, and compare sizes.", "ls -l model.h5\nsha256sum model.h5"),
            Step("Two processes that save to one name spoil it: save to another name, then rename."),
        ),
    )


MESSAGE = Message(
    id="file-truncated",
    title="The file was cut off",
    wordings=(
        Wording(
            "truncated file: eof",
            r"truncated file: eof = (?P<bytes>\d{1,18}), sblock->base_addr = \d+, stored_eo[fa] = (?P<wanted>\d{1,18})",
        ),
        Wording(
            "Truncated file",
            r"[Tt]runcated file: eof = (?P<bytes>\d{1,18})(?:, sblock->base_addr = \d+, stored_eo[fa] = (?P<wanted>\d{1,18}))?",
        ),
        Wording("truncated file"),
        Wording("File is not a zip file"),
        Wording("unexpected EOF", r"unexpected EOF(?! while)", beside="load", unless="SyntaxError"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/h5py/h5py/blob/master/h5py/_hl/files.py",),
)
