"""The picture of a model needs pydot and graphviz."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "plot_model draws by two things, the package pydot and the program graphviz (dot), and one of them is not found where the program runs.",
        Certainty.CERTAIN,
        (
            Step(
                "Install both; graphviz is no Python package.",
                "pip install pydot\nsudo apt install graphviz   # brew install graphviz, or the installer for Windows",
            ),
        ),
    )


MESSAGE = Message(
    id="pydot-missing",
    title="The picture of a model needs pydot and graphviz",
    wordings=(
        Wording("pip install pydot"),
        Wording("Failed to import pydot"),
        Wording("Graphviz's executables not found"),
        Wording('"dot" not found in path'),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/utils/model_visualization.py",),
)
