"""A package is not installed where the program runs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    module = read.get("module", "A package")
    root = module.split(".")[0]
    if read.says("No matching distribution found"):
        return Cause(
            f"pip finds no build of {module} for this Python and this machine: the version of Python is too new or too old for it, Python is not 64-bit, or there is no build for this processor.",
            Certainty.LIKELY,
            (
                Step(
                    "See what Python it is.", 'python -c "import sys, platform; print(sys.version, platform.machine())"'
                ),
                Step(
                    "Take a Python that the package has builds for.",
                    "uv venv --python 3.11 && uv pip install tensorflow",
                ),
            ),
        )
    package = {
        "cv2": "opencv-python",
        "sklearn": "scikit-learn",
        "PIL": "pillow",
        "yaml": "pyyaml",
        "skimage": "scikit-image",
    }.get(root, root.replace("_", "-"))
    return Cause(
        f"“{module}” is not installed in the Python that runs the program; a notebook often runs another one than the terminal.",
        Certainty.CERTAIN,
        (
            Step(
                "Install it for this very Python.",
                f"python -m pip install {package}   # in a notebook: %pip install {package}",
            ),
            Step("See which Python it is.", "import sys\nprint(sys.executable)"),
        ),
    )


MESSAGE = Message(
    id="module-missing",
    title="A package is not installed where the program runs",
    wordings=(
        Wording("requires h5py", r"requires (?P<module>h5py)"),
        Wording("requires PIL", r"requires (?P<module>PIL)"),
        Wording("No module named", r"No module named '?(?P<module>[\w.]{1,80})'?"),
        Wording(
            "No matching distribution found for",
            r"No matching distribution found for (?P<module>[\w.<>=!~\[\]-]{1,80})",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://docs.python.org/3/library/exceptions.html#ModuleNotFoundError",),
    rank=-2,
)
