"""A callback watches a value that is not measured."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    metric = read.get("metric", "the metric")
    available = f" There are: {read.get('available').strip()}." if "available" in read else ""
    return Cause(
        f"“{metric}” is not among the values of this training.{available} Names that begin with val_ need validation data; “acc” was renamed “accuracy”, and a metric object goes by its own name.",
        Certainty.LIKELY,
        (
            Step("See the names.", "print(history.history.keys())"),
            Step(
                "Give validation data, and the name as it is written there.",
                "model.compile('adam', loss, metrics=['accuracy'])\nmodel.fit(x, y, validation_split=0.2, callbacks=[keras.callbacks.EarlyStopping(monitor='val_accuracy', mode='max')])",
            ),
        ),
    )


MESSAGE = Message(
    id="monitor-missing",
    title="A callback watches a value that is not measured",
    wordings=(
        Wording(
            "which is not available",
            r"on metric `(?P<metric>\w{1,80})` which is not available\. Available metrics are: (?P<available>[\w, ]{0,200})",
        ),
        Wording("available, skipping", r"with (?P<metric>\w{1,80}) available, skipping"),
        Wording(
            "isn't able to automatically determine whether that metric should be maximized or minimized",
            r"monitor=(?P<metric>\w{1,80}),",
        ),
    ),
    explain=_explain,
    ways=(ways.CURVES,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/64035",
        "https://github.com/tensorflow/tensorflow/issues/37254",
    ),
)
