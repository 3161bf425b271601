"""Libraries of CUDA are not found, so the GPU is not used."""

from __future__ import annotations

import re

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("library").startswith("libcuda."):
        return Cause(
            f"“{read.get('library')}” is the library of the card's driver, and it is not found: the driver is missing, or is not handed into the container.",
            Certainty.CERTAIN,
            (
                Step("See the driver.", "nvidia-smi"),
                Step("In a container: hand the card in.", "docker run --gpus all …"),
            ),
        )
    if "loading" in read:
        return Cause(
            f"“{read.get('library')}” could not be loaded: it, or a library that it needs in turn, is missing or of another version, or memory was short; what follows “Error” in the message says which.",
            Certainty.LIKELY,
            (Step("Let pip bring the fitting ones along (Linux, WSL 2).", "pip install 'tensorflow[and-cuda]'"),),
        )
    if "imported" in read:
        return Cause(
            f"What is imported was built for “{read.get('library')}”, a library of CUDA, and it is not found: CUDA of that version is not installed, or not in the path of libraries.",
            Certainty.CERTAIN,
            (
                Step("See where it is.", "ldconfig -p | grep libcu; echo $LD_LIBRARY_PATH"),
                Step("Let pip bring the fitting ones along (Linux, WSL 2).", "pip install 'tensorflow[and-cuda]'"),
            ),
        )
    named = read.get("library") or next(iter(re.findall(r"dynamic library '([^']{1,60})'", read.text[:100_000])), "")
    library = f"“{named}”" if named else "a library of CUDA or cuDNN"
    return Cause(
        f"TensorFlow does not find {library} in the version it was built for, so it runs on the CPU (or stops, where it needs it).",
        Certainty.LIKELY
        if read.says("cudaGetErrorString", "invalid ELF header", "file too short")
        else Certainty.CERTAIN,
        (
            Step("Let pip bring the fitting ones along (Linux, WSL 2).", "pip install 'tensorflow[and-cuda]'"),
            Step(
                "See which versions the build wants, and whether it sees the card then.",
                "python -c \"import tensorflow as tf; print(tf.sysconfig.get_build_info()); print(tf.config.list_physical_devices('GPU'))\"",
            ),
            Step(
                "Installed by hand: the folder has to be on the path of the loader.",
                "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH",
            ),
        ),
    )


MESSAGE = Message(
    id="gpu-libraries-missing",
    title="Libraries of CUDA are not found, so the GPU is not used",
    wordings=(
        Wording(
            "Could not load dynamic library 'libcudnn", r"Could not load dynamic library '(?P<library>[^']{1,60})'"
        ),
        Wording("Could not load dynamic library 'cudnn", r"Could not load dynamic library '(?P<library>[^']{1,60})'"),
        Wording("Cannot dlopen some GPU libraries"),
        Wording(
            "Could not load dynamic library 'libcu",
            r"Could not load dynamic library '(?P<library>[^']{1,60})'",
            beside="Skipping registering GPU devices",
        ),
        Wording(
            "Could not locate cudnn",
            r"Could not locate (?P<library>[\w.]{1,60})\. Please make sure it is in your library path",
        ),
        Wording("cudaGetErrorString symbol not found"),
        Wording("Could not locate zlibwapi.dll", r"Could not locate (?P<library>zlibwapi\.dll)"),
        Wording("Could not load library cudnn", r"Could not (?P<loading>load) library (?P<library>[\w.]{1,60}\w)"),
        Wording("Could not load library libcudnn", r"Could not (?P<loading>load) library (?P<library>[\w.]{1,60}\w)"),
        Wording(
            "ImportError: libcu",
            r"(?P<imported>ImportError): (?P<library>libcu(?!rl|ps)[\w.]{1,40}): cannot open shared object file",
        ),
        Wording("unable to find libcuda.so DSO", r"(?P<library>libcuda\.so) DSO"),
        Wording("libcuda.so.1: cannot open shared object file", r"(?P<library>libcuda\.so\.1)"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DOCTOR),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/45200",
        "https://github.com/tensorflow/tensorflow/issues/60854",
        "https://github.com/NVIDIA/tensorflow/issues/110",
    ),
    role=Role.WARNING,
)
