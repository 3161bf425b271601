"""A build for another processor."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    have = f" The library is for {read.get('have')}." if "have" in read else ""
    return Cause(
        f"A library is built for another processor than the Python that loads it.{have} On a Mac with Apple silicon: a Python for Intel (under Rosetta, an older Anaconda) beside packages for arm64, or the other way round.",
        Certainty.LIKELY if read.says("Exec format error") else Certainty.CERTAIN,
        (
            Step(
                "See what Python is: arm64 on Apple silicon.", "python -c 'import platform; print(platform.machine())'"
            ),
            Step(
                "A native Python (python.org, Miniforge), and everything anew in a fresh environment.",
                "python3 -m venv fresh && fresh/bin/pip install tensorflow",
            ),
        ),
    )


MESSAGE = Message(
    id="wrong-architecture",
    title="A build for another processor",
    wordings=(
        Wording("mach-o, but wrong architecture"),
        Wording(
            "mach-o file, but is an incompatible architecture",
            r"\(have '(?P<have>[\w,]{1,30})', need '(?P<need>[\w,' ]{1,30}?)'\)",
        ),
        Wording("mach-o file, but is an incompatible architecture"),
        Wording("incompatible architecture (have", r"have '?\(?(?P<have>\w{1,20})"),
        Wording("Exec format error"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/apple/tensorflow_macos/issues/101",
        "https://github.com/apple/tensorflow_macos/issues/153",
    ),
)
