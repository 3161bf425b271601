"""A library was built for another NumPy."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    version = f" (here {read.get('version').rstrip('.')})" if "version" in read else ""
    return Cause(
        f"A compiled library was built for another NumPy than the one installed{version}: the one is older than the other, or NumPy is there twice. Builds for NumPy 1 do not run under NumPy 2; TensorFlow takes NumPy 2 from 2.18 on.",
        Certainty.LIKELY
        if "loose" in read and not read.says("module compiled against API version", "compiled using NumPy 1.x")
        else Certainty.CERTAIN,
        (
            Step(
                "Take the NumPy it was built for, or a newer build of the library.",
                "pip install 'numpy<2'\npip install -U tensorflow",
            ),
            Step("Restart the notebook after it."),
            Step("The library that fails is the one whose import stands in the traceback."),
        ),
    )


MESSAGE = Message(
    id="numpy-abi",
    title="A library was built for another NumPy",
    wordings=(
        Wording(
            "A module that was compiled using NumPy 1.x cannot be run in",
            r"cannot be run in NumPy (?P<version>[\d.]{1,12})",
        ),
        Wording("_ARRAY_API not found"),
        Wording("numpy.core.multiarray failed to import", r"(?P<loose>failed) to import"),
        Wording("numpy.dtype size changed, may indicate binary incompatibility"),
        Wording(
            "module compiled against API version",
            r"API version (?P<wanted>\w{1,8}) but this version of numpy is (?P<version>\w{1,8})",
        ),
        Wording("numpy.ufunc size changed"),
        Wording("numpy.ndarray size changed, may indicate binary incompatibility"),
        Wording("size changed, may indicate binary incompatibility", r"(?P<loose>size) changed", beside="numpy"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/90245",
        "https://github.com/CameronBodine/PINGMapper/issues/123",
        "https://github.com/spyder-ide/spyder/issues/23561",
    ),
)
