"""A method that Keras no longer has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_TAKEN_OUT = ("predict_classes", "predict_proba", "fit_generator", "predict_generator", "evaluate_generator")


def _explain(read: Read) -> Cause:
    method = read.get("method", "The method")
    now = {
        "predict_classes": "y = model.predict(x).argmax(axis=-1)        # several classes\ny = (model.predict(x) > 0.5).astype(int)     # one sigmoid unit",
        "predict_proba": "y = model.predict(x)",
        "fit_generator": "model.fit(generator, epochs=10)",
        "predict_generator": "model.predict(generator)",
        "evaluate_generator": "model.evaluate(generator)",
        "_make_predict_function": "# not needed any more: leave the line out",
    }.get(method, "# see keras.io/api for what replaced it")
    if method == "load_model":
        return Cause(
            "load_model is a function of keras.models, not a method of a model.",
            Certainty.CERTAIN,
            (Step("Call it so.", "model = keras.models.load_model('model.keras')"),),
        )
    if method not in _TAKEN_OUT or read.get("type") not in ("", "Sequential", "Functional", "Model"):
        return Cause(
            f"“{method}” is not in this version: it is of an older Keras, or of another kind of model.",
            Certainty.LIKELY,
            (Step("What is written today.", now),),
        )
    return Cause(
        f"“{method}” was taken out of Keras (with TensorFlow 2.6, the generators with Keras 3).",
        Certainty.CERTAIN,
        (Step("What is written today.", now),),
    )


MESSAGE = Message(
    id="removed-method",
    title="A method that Keras no longer has",
    wordings=(
        Wording(
            "object has no attribute",
            r"'(?P<type>Sequential|Functional|Model|\w{1,40}Model)' object has no attribute '(?P<method>predict_classes|predict_proba|fit_generator|predict_generator|evaluate_generator|_make_predict_function|uses_learning_phase|total_loss|_get_distribution_strategy|targets|sample_weights|_feed_inputs|get_input_at|load_model|_distribution_strategy)'",
        ),
        Wording(
            "has no attribute 'predict_classes'",
            r"'(?P<type>\w{1,60})' object has no attribute '(?P<method>predict_classes)'",
        ),
        Wording(
            "has no attribute 'fit_generator'",
            r"'(?P<type>\w{1,60})' object has no attribute '(?P<method>fit_generator)'",
        ),
    ),
    explain=_explain,
    ways=(ways.PREDICT,),
    sources=(
        "https://github.com/keras-team/keras/issues/15838",
        "https://github.com/tensorflow/tensorflow/issues/53391",
        "https://github.com/keras-team/keras/issues/15993",
    ),
)
