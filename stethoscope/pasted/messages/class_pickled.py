"""An object was pickled whose class is not there."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "key" in read:
        lfs = (
            " A “v” is the first letter of a pointer of Git LFS: the file itself was not downloaded."
            if read.get("key") == "v"
            else ""
        )
        html = " A “<” begins a web page that was saved instead of the file." if read.get("key") == "<" else ""
        return Cause(
            f"The file is no pickle: it begins with “{read.get('key')}”.{lfs}{html}",
            Certainty.LIKELY,
            (
                Step("Look at its beginning.", "head -c 200 FILE"),
                Step("Files of Git LFS.", "git lfs pull"),
                Step("A pickle runs code when it is loaded: load none from others."),
            ),
        )
    if "cut" in read:
        return Cause(
            "The pickle ends too early: its writing or download was cut off.",
            Certainty.LIKELY,
            (Step("Copy it again, compare sizes.", "ls -l FILE"),),
        )
    name, module = read.get("name", "The class"), read.get("module", "__main__")
    return Cause(
        f"A pickle holds the name of a class or function, not its code: “{name}” was in {module} when it was written, and is not there now.",
        Certainty.CERTAIN,
        (
            Step(
                "Define or import it before loading, under the same module.",
                f"from yours import {name}\nimport sys\nsys.modules['{module}'].{name} = {name}",
            ),
            Step("Keep it in a module of its own, not in the script or notebook, and write the file anew."),
        ),
    )


MESSAGE = Message(
    id="class-pickled",
    title="An object was pickled whose class is not there",
    wordings=(
        Wording(
            "Can't get attribute '", r"Can't get attribute '(?P<name>[\w.]{1,80})' on <module '(?P<module>[\w.]{1,80})'"
        ),
        Wording("invalid load key", r"invalid load key, '(?P<key>[^']{1,8})'"),
        Wording("pickle data was truncated", r"(?P<cut>truncated)"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled",),
    rank=-1,
    general=True,
)
