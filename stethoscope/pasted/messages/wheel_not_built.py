"""pip could not build a package from its sources."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    package = read.get("package", "the package")
    return Cause(
        f"There is no ready build of {package} for this Python and this machine, so pip tried to compile it, and that failed: mostly Python is newer than the package.",
        Certainty.LIKELY,
        (
            Step("Take a Python that it has builds for.", "uv venv --python 3.11 && uv pip install tensorflow"),
            Step(
                "Or a newer version of the package; newest pip first.",
                f"python -m pip install -U pip\npython -m pip install --only-binary :all: {package if package != 'the package' else 'PACKAGE'}",
            ),
            Step(
                "To compile all the same: the first error above this line says what is missing (a compiler, headers)."
            ),
        ),
    )


MESSAGE = Message(
    id="wheel-not-built",
    title="pip could not build a package from its sources",
    wordings=(
        Wording("Failed building wheel for", r"Failed building wheel for (?P<package>[\w.-]{1,60})"),
        Wording("Could not build wheels for", r"Could not build wheels for (?P<package>[\w.-]{1,60})"),
        Wording(
            "Failed to build installable wheels for some pyproject.toml based projects",
            r"projects ?\(?(?P<package>[\w.-]{1,60})",
        ),
        Wording("error: metadata-generation-failed"),
        Wording("Microsoft Visual C++ 14.0 or greater is required"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://pip.pypa.io/en/stable/cli/pip_install/",),
)
