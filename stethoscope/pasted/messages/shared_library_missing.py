"""A library of the system is missing."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    library = read.get("library", "libGL.so.1")
    package = next(
        (
            name
            for part, name in {
                "libGL": "libgl1",
                "libgthread": "libglib2.0-0",
                "libSM": "libsm6",
                "libXext": "libxext6",
                "libXrender": "libxrender1",
                "libglib": "libglib2.0-0",
                "libsndfile": "libsndfile1",
                "libgomp": "libgomp1",
                "libatlas": "libatlas-base-dev",
                "libcblas": "libatlas-base-dev",
                "libf77blas": "libatlas-base-dev",
                "libopenblas": "libopenblas0",
            }.items()
            if library.startswith(part)
        ),
        "",
    )
    if library.startswith("libcuda."):
        return Cause(
            f"{library} is the library of the card's driver, and it is not found: the driver is missing, or is not handed into the container.",
            Certainty.CERTAIN,
            (
                Step("See the driver.", "nvidia-smi"),
                Step("In a container: hand the card in.", "docker run --gpus all …"),
            ),
        )
    return Cause(
        f"{library} is a library of the system, not of Python, and is not found here: it is not installed, or not in the path of libraries (usual in containers and on small boards)."
        + (
            " OpenCV wants it for windows; without windows there is a build that does not."
            if library.startswith(("libGL", "libSM", "libX"))
            else ""
        ),
        Certainty.CERTAIN,
        (
            Step(
                "Install it.",
                f"apt-get update && apt-get install -y {package}" if package else f"apt-file search {library}",
            ),
            *(
                (Step("Or OpenCV without windows.", "python -m pip install opencv-python-headless"),)
                if library.startswith(("libGL", "libSM", "libX", "libgthread"))
                else ()
            ),
        ),
    )


MESSAGE = Message(
    id="shared-library-missing",
    title="A library of the system is missing",
    wordings=(
        Wording(
            "cannot open shared object file",
            r"(?P<library>lib(?:GL|gthread|SM|Xext|Xrender|glib|sndfile|hdf5|stdc\+\+|gomp|atlas|openblas|cblas|f77blas|jpeg|usb|edgetpu|python3|cuda)[\w.+-]{0,40}): cannot open shared object file",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://docs.opencv.org/4.x/d2/de6/tutorial_py_setup_in_ubuntu.html",),
    rank=-1,
)
