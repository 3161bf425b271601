"""A package is not installed where the program runs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_GONE = ("distutils", "imp", "asynchat", "asyncore", "smtpd", "cgi", "cgitb", "pipes", "telnetlib", "imghdr", "sndhdr")
"""What newer versions of Python left out."""


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
    if root in _GONE:
        return Cause(
            f"“{module}” was a part of Python and newer versions (3.12, 3.13) have it no more; a package here is of before that.",
            Certainty.LIKELY,
            (
                Step("A newer version of the package that asks for it.", "python -m pip install -U PACKAGE"),
                Step("Or an older Python; distutils also comes with setuptools.", "python -m pip install setuptools"),
            ),
        )
    if read.says("is not a package"):
        return Cause(
            f"“{module}” is looked for in something that is no package: most often a file of your own is called {root}.py and hides it.",
            Certainty.LIKELY,
            (Step("See which file it is.", f"import {root}\nprint({root}.__file__)"),),
        )
    if "." in module:
        return Cause(
            f"Python does not find “{module}”: the installed {root} has no such part (it is older or newer than the code or the file that asks for it), or {root} is not installed in the Python that runs the program.",
            Certainty.LIKELY,
            (
                Step("See which version is there.", f"python -m pip show {root.replace('_', '-')}"),
                Step("See which Python it is.", "import sys\nprint(sys.executable)"),
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
        f"Python does not find “{module}”: it is not installed in the Python that runs the program (a notebook often runs another one than the terminal), or, where it is a file of your own, its folder is not in the path.",
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
        Wording("requires h5py", r"requires (?P<module>h5py)(?! ?[~<>=!(]|, but)"),
        Wording("requires PIL", r"requires (?P<module>PIL)(?!\w| ?[~<>=!(]|, but)"),
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
