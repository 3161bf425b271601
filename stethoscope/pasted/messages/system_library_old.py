"""A library of the system is older than the package was built for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted = read.get("version", "a newer version")
    if wanted.startswith("GLIBC_"):
        return Cause(
            f"What is imported was built for a newer Linux: it wants {wanted} of the C library, and that cannot be exchanged by hand without harm.",
            Certainty.CERTAIN,
            (
                Step("Use a container, or a newer system.", "docker run --rm -it tensorflow/tensorflow python"),
                Step("Or a TensorFlow of the system's time."),
            ),
        )
    return Cause(
        f"The libstdc++ that is loaded has no {wanted}. Often it is one of conda or of a compiler that stands before the system's in the path.",
        Certainty.CERTAIN,
        (
            Step(
                "See which is loaded and what it has.",
                "strings /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep GLIBCXX | tail -3\necho $LD_LIBRARY_PATH",
            ),
            Step("Bring a newer one in the environment.", "conda install -c conda-forge libstdcxx-ng"),
            Step("Or have the system's loaded first.", "export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
        ),
    )


MESSAGE = Message(
    id="system-library-old",
    title="A library of the system is older than the package was built for",
    wordings=(
        Wording("not found", r"version [`'\"](?P<version>(?:GLIBCXX|GLIBC|CXXABI)_[\d.]{1,12})[`'\"] not found"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/56562",
        "https://github.com/tensorflow/tensorflow/issues/30856",
        "https://github.com/tensorflow/tensorflow/issues/1324",
    ),
)
