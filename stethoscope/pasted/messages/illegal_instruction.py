"""The processor does not know an instruction of this build."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    named = read.get("instruction", "AVX")
    return Cause(
        f"TensorFlow's builds use {named} (since 1.6), which this processor, or the virtual machine or emulator that it shows, does not have; on a Mac with an M chip it is a build for Intel.",
        Certainty.LIKELY,
        (
            Step("See whether the processor has it.", "grep -o -m1 -w 'avx[^ ]*' /proc/cpuinfo | sort -u"),
            Step(
                "A virtual machine: pass the host's processor on. A Mac with an M chip: Python for arm64.",
                'python -c "import platform; print(platform.machine())"',
            ),
            Step("Else another machine, or a build of one's own."),
        ),
    )


MESSAGE = Message(
    id="illegal-instruction",
    title="The processor does not know an instruction of this build",
    wordings=(
        Wording("0xC000001D"),
        Wording("-1073741795"),
        Wording("Illegal instruction"),
        Wording("illegal hardware instruction"),
        Wording("signal 4: SIGILL"),
        Wording("exit code 132"),
        Wording(
            "The TensorFlow library was compiled to use",
            r"compiled to use (?P<instruction>[\w.]{1,20}) instructions, but these aren't available on your machine",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/17411",
        "https://github.com/tensorflow/tensorflow/issues/19104",
        "https://github.com/tensorflow/tensorflow/issues/45744",
    ),
)
