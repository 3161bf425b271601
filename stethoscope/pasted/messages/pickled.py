"""A model was to be pickled or copied."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "an object")
    return Cause(
        f"Python was to pickle or copy something that holds {kind}, which cannot be: a model, an optimizer or a Lambda with a tensor in it, given to pickle, copy.deepcopy, joblib, multiprocessing, or a grid search with n_jobs.",
        Certainty.LIKELY,
        (
            Step(
                "A model has its own format.",
                "model.save('model.keras')\nmodel = keras.models.load_model('model.keras')",
            ),
            Step("A copy of a model.", "copy = keras.models.clone_model(model)\ncopy.set_weights(model.get_weights())"),
            Step(
                "Search in one process, or hand over a function that builds the model.",
                "GridSearchCV(KerasClassifier(build_model), grid, n_jobs=1)",
            ),
        ),
    )


MESSAGE = Message(
    id="pickled",
    title="A model was to be pickled or copied",
    wordings=(
        Wording("pickle", r"(?:cannot|can't) pickle '?(?P<type>[\w.]{1,60})'? objects?"),
        Wording("Can't pickle local object", r"Can't pickle local object '(?P<type>[\w.<>]{1,100})'"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/keras-team/keras/issues/14180",
        "https://github.com/keras-team/keras/issues/12420",
        "https://github.com/tensorflow/tensorflow/issues/54694",
    ),
)
