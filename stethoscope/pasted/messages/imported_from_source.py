"""A folder named tensorflow hides the package."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Python is started in a folder that holds a folder or file named tensorflow (its sources, or a script of one's own), and imports that instead of the package; or the package's native part does not load.",
        Certainty.LIKELY,
        (
            Step(
                "Go elsewhere, and see what is imported.",
                'cd ~\npython -c "import tensorflow; print(tensorflow.__file__)"',
            ),
            Step("A script of your own named tensorflow.py: rename it, and remove its __pycache__."),
            Step(
                "If an ImportError stands above this, that one is the cause; install anew in a fresh environment.",
                "python -m pip install --force-reinstall tensorflow",
            ),
        ),
    )


MESSAGE = Message(
    id="imported-from-source",
    title="A folder named tensorflow hides the package",
    wordings=(
        Wording("you should not try to import tensorflow from its source directory"),
        Wording("please exit the tensorflow source tree"),
        Wording("No module named core.framework", r"(?P<core>core\.framework)"),
        Wording("No module named 'tensorflow.python'; 'tensorflow' is not a package", r"is not a (?P<package>package)"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/81",
        "https://github.com/tensorflow/tensorflow/issues/1254",
    ),
    rank=-1,
)
