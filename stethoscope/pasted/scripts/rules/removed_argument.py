"""An argument that TensorFlow or Keras does not take any more.

Why: an argument of Keras 1 or 2 that is gone raises TypeError or ValueError; some are taken and then ignored.
Example: `Adam(lr=0.001)`, `model.fit(x, y, nb_epoch=10)`, `model.fit(data, workers=4)`, `Conv2D(32, 3, border_mode="same")`.
Fix: the argument's name of today, or the call without it.
Source: keras.io/guides/migrating_to_keras_3; github.com/keras-team/keras/wiki/Keras-2.0-release-notes; the signatures of Keras 3.15.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning, of_keras, parameters
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call

_RENAMED = {
    "lr": "learning_rate",
    "smart_resize": "crop_to_aspect_ratio",
    "nb_epoch": "epochs",
    "samples_per_epoch": "steps_per_epoch",
    "nb_val_samples": "validation_steps",
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "dim_ordering": "data_format",
    "filter_length": "kernel_size",
    "subsample_length": "strides",
    "pool_length": "pool_size",
    "stride": "strides",
    "init": "kernel_initializer",
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint",
    "b_constraint": "bias_constraint",
    "bias": "use_bias",
    "inner_activation": "recurrent_activation",
    "inner_init": "recurrent_initializer",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
    "p": "rate",
    "sigma": "stddev",
    "nb_classes": "num_classes",
    "nb_words": "num_words",
    "output_dim": "units",
    "input": "inputs",
    "output": "outputs",
    "nb_worker": "workers",
    "atrous_rate": "dilation_rate",
    "generator": "x",
    "restore_best": "restore_best_weights",
    "epsilon": "min_delta",
    "U_regularizer": "recurrent_regularizer",
    "length": "size",
    "consume_less": "implementation",
    "target_size_": "target_size",
    "depth_multiplier_": "depth_multiplier",
    "max_q_size": "max_queue_size",
    "sparsity": "sparse",
}
_STILL_NEEDED = frozenset({"batch_input_shape", "weights", "target_tensors"})
"""What has to be said in another place, and is not simply left out."""
_INSTEAD = {
    "workers": "give it to the keras.utils.PyDataset",
    "use_multiprocessing": "give it to the keras.utils.PyDataset",
    "max_queue_size": "give it to the keras.utils.PyDataset",
    "batch_input_shape": "begin the model with keras.Input(batch_shape=…)",
    "weights": "call set_weights after the layer is built",
    "period": 'save_freq says how often, in batches, or "epoch"',
    "write_grads": "gradients are not written any more",
    "sample_weight_mode": "give sample_weight with the shape of the targets",
    "decay": "a schedule takes its place: keras.optimizers.schedules.InverseTimeDecay",
    "save_format": "the suffix of the name says it: .keras or .h5",
    "time_major": "transpose the input",
}
_LAYER_EXTRAS = frozenset(
    {"input_shape", "input_dim", "name", "dtype", "trainable", "autocast", "activity_regularizer"}
)
_IGNORED = {
    ("keras.layers.Embedding", "input_length"),
    ("keras.layers.LeakyReLU", "alpha"),
    ("keras.layers.LSTM", "implementation"),
    ("keras.layers.GRU", "implementation"),
    ("keras.layers.SimpleRNN", "implementation"),
    ("keras.callbacks.ReduceLROnPlateau", "epsilon"),
}
"""Taken with a warning, or without one (tried on Keras 3.15)."""
_OPTIMIZER_IGNORED = frozenset({"decay"})
_METHODS = {
    "fit": "keras.Model#fit",
    "evaluate": "keras.Model#evaluate",
    "predict": "keras.Model#predict",
    "compile": "keras.Model#compile",
    "train_on_batch": "keras.Model#train_on_batch",
    "save_weights": "keras.Model#save_weights",
}
_TELLING = frozenset({"nb_epoch", "samples_per_epoch", "nb_val_samples"})
"""Arguments that no other library's `fit` has."""
_OLD_OF_METHODS = frozenset(
    {
        "workers",
        "use_multiprocessing",
        "max_queue_size",
        "nb_epoch",
        "samples_per_epoch",
        "nb_val_samples",
        "max_q_size",
        "sample_weight_mode",
        "target_tensors",
        "options",
        "run_metadata",
        "experimental_run_tf_function",
        "show_accuracy",
        "class_mode",
        "nb_worker",
        "pickle_safe",
        "save_format",
    }
)
_FAMILIES = (
    "keras.layers.",
    "keras.optimizers.",
    "keras.callbacks.",
    "keras.losses.",
    "keras.metrics.",
    "keras.utils.",
    "keras.datasets.",
    "keras.Input",
    "keras.preprocessing.",
    "keras.regularizers.",
    "keras.initializers.",
    "tensorflow.distribute.",
)


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy:
        return
    done: set[int] = set()
    for call in facts.calls:
        if call.guarded or id(call.node) in done:
            continue
        done.add(id(call.node))
        name, known = _known(facts, call)
        for keyword in call.call_node.keywords:
            if keyword.arg is None or known is None or keyword.arg in known:
                continue
            yield from _of(facts, call, name, keyword, known)


def _known(facts: Facts, call: Call) -> tuple[str, frozenset[str] | None]:
    """What is called, and the arguments it takes; None where it takes any, or nobody knows."""
    if call.name:
        name = meaning(call.name)
        if name == "keras.Model" and not facts.legacy:
            return name, frozenset({"inputs", "outputs", "name", "trainable", "dtype"})
        if not name.startswith(_FAMILIES) or (not of_keras(call.name) and not name.startswith("tensorflow.")):
            return name, None
        if call.name.startswith("tf_keras") or ".legacy." in call.name:
            return name, None
        found = parameters(call.name) or parameters(name)
        if found is None:
            return name, None
        taken = frozenset(found)
        if not any(one.startswith("**") for one in taken):
            return name, taken
        if name.startswith("keras.layers."):
            return name, taken | _LAYER_EXTRAS
        if name.startswith("keras.optimizers.") and "." not in name.removeprefix("keras.optimizers."):
            return name, taken
        return name, None
    model = facts.model_of(call.receiver)
    telling = any(keyword.arg in _TELLING for keyword in call.call_node.keywords)
    if call.method in _METHODS and (telling or (model is not None and model.kind != "subclass")):
        found = parameters(_METHODS[call.method])
        return call.method, None if found is None else frozenset(found)
    return "", None


def _of(facts: Facts, call: Call, name: str, keyword: ast.keyword, known: frozenset[str]) -> Iterator[Finding]:
    assert keyword.arg is not None
    own = name.rpartition(".")[2]
    if (name, keyword.arg) in _IGNORED:
        return
    if call.name == "" and keyword.arg not in _OLD_OF_METHODS:
        return
    new = _RENAMED.get(keyword.arg, "")
    if new not in known or new in call.keywords:
        new = ""
    ignored = name.startswith("keras.optimizers.") and keyword.arg in _OPTIMIZER_IGNORED
    instead = _INSTEAD.get(keyword.arg, "")
    what = "ignores" if ignored else "does not take"
    now = f" It is {new} today." if new else f" {instead[:1].upper()}{instead[1:]}." if instead else ""
    edits: list[Edit] = []
    if new and keyword.arg != "samples_per_epoch":  # rows, not batches
        edits = [facts.spans.rename_keyword(keyword, new)]
    elif not new and keyword.arg not in _STILL_NEEDED:
        edits = [facts.spans.remove_argument(call.call_node, keyword)]
    yield facts.finding(
        keyword.lineno,
        Fault.OPTIMIZER if name.startswith("keras.optimizers.") else Fault.DEPLOYMENT,
        Severity.MEDIUM if ignored else Severity.HIGH,
        0.95,
        f"{own} of Keras 3 {what} {keyword.arg}.{now}",
        f"Write {new} for {keyword.arg}."
        if new
        else f"Leave {keyword.arg} out."
        if edits
        else instead or f"Do without {keyword.arg}.",
        edits,
    )


RULE = Rule(_run)
