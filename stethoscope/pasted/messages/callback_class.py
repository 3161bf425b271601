"""A callback that is none of this Keras."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "single" in read:
        return Cause(
            f"callbacks takes a list, and one {read.get('single')} was given.",
            Certainty.LIKELY if read.get("single").endswith("Callback") else Certainty.CERTAIN,
            (Step("Put it into a list.", "model.fit(x, y, callbacks=[stopping])"),),
        )
    return Cause(
        f"{read.get('type', 'A callback')} does not derive from the Callback of the Keras that trains: it is a class of another package (keras beside tf.keras), of an older version, or derives from nothing.",
        Certainty.LIKELY,
        (
            Step(
                "Derive it from the Callback of the same package as the model.",
                "class Mine(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        ...",
            ),
            Step(
                "Model and callbacks out of one package.",
                "from tensorflow.keras import layers, callbacks   # or from keras, for both",
            ),
        ),
    )


MESSAGE = Message(
    id="callback-class",
    title="A callback that is none of this Keras",
    wordings=(
        Wording(
            "object has no attribute '",
            r"'(?P<type>\w{1,60})' object has no attribute '(?P<attribute>on_(?:train|test|predict)_\w{2,20}|on_(?:epoch|batch)_\w{3,5}|_implements_\w{4,9}_batch_hooks|_supports_tf_logs|_chief_worker_only|set_model|set_params)'",
        ),
        Wording(
            "unsupported operand type(s) for +: '",
            r"for \+: '(?P<single>EarlyStopping|ModelCheckpoint|TensorBoard|ReduceLROnPlateau|LearningRateScheduler|CSVLogger|\w{1,40}Callback)' and 'list'",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/autonomio/talos/issues/304",
        "https://github.com/TUT-ARG/DCASE2017-baseline-system/pull/38",
    ),
)
