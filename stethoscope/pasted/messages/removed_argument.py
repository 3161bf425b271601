"""An argument that the function does not take."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function, argument = read.get("function", "A function"), read.get("argument", "an argument")
    fit = {"use_multiprocessing", "workers", "max_queue_size", "nb_epoch", "samples_per_epoch", "nb_val_samples"}
    if argument in fit and function.rpartition(".")[2].startswith(("fit", "evaluate", "predict")):
        return Cause(
            f"{function} takes no “{argument}” any more.",
            Certainty.CERTAIN,
            (
                Step(
                    "workers and use_multiprocessing belong to the data set of Keras 3; nb_epoch is epochs.",
                    "class Rows(keras.utils.PyDataset):\n    def __init__(self, **settings):\n        super().__init__(workers=4, use_multiprocessing=True)\nmodel.fit(x, y, epochs=10)",
                ),
            ),
        )
    layers = {
        "input_dim",
        "batch_input_shape",
        "input_shape",
        "output_dim",
        "nb_filter",
        "border_mode",
        "init",
        "subsample",
        "W_regularizer",
        "time_major",
        "implementation",
        "dim_ordering",
        "ragged",
    }
    if argument in layers or function.endswith("__init__"):
        return Cause(
            f"{function} takes no “{argument}”: it is of an older (or newer) version, or is written differently.",
            Certainty.LIKELY,
            (
                Step(
                    "The shape of the input is a layer of its own today.",
                    "keras.Sequential([keras.Input((5,)), keras.layers.Dense(10)])",
                ),
                Step("See what it takes.", "help(keras.layers.Dense)"),
            ),
        )
    if function.rpartition(".")[2] in ("call", "get_config", "build", "compute_output_shape"):
        return Cause(
            f"{function} is called with “{argument}” and does not take it: Keras hands it on where a model, a wrapper or a layer around (or a line of your own) calls it so.",
            Certainty.CERTAIN,
            (Step("Take it in the class.", f"def {function.rpartition('.')[2]}(self, x, {argument}=None):\n    ..."),),
        )
    return Cause(
        f"{function} takes no argument “{argument}” in the version that is installed: it was renamed or taken out, is of a newer version, or is misspelt.",
        Certainty.CERTAIN,
        (Step("See what it takes, and the version.", "help(function)\nprint(keras.__version__, tf.__version__)"),),
    )


MESSAGE = Message(
    id="removed-argument",
    title="An argument that the function does not take",
    wordings=(
        Wording(
            "got an unexpected keyword argument",
            r"(?P<function>[\w.<>]{1,80})\(\) got an unexpected keyword argument '(?P<argument>\w{1,60})'",
            unless="could not be deserialized",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/2302",),
    rank=-1,
)
