"""The programs for training on several devices, and the change against each cause of a difference."""

from __future__ import annotations

import json


def program(model_file: str, package: str, devices: int, batch_size: int, *, per_replica: bool) -> str:
    """The multi-device training to copy; `x` and `y` are the reader's."""
    names = ", ".join(f'"/GPU:{number}"' for number in range(devices))
    batch = (
        f"{batch_size} * strategy.num_replicas_in_sync"
        if per_replica
        else f"{batch_size}  # divided among the replicas"
    )
    imports = "".join(f"import {name}\n" for name in sorted(("tensorflow as tf", package)))
    return (
        f"{imports}\nstrategy = tf.distribute.MirroredStrategy([{names}])\n"
        f"batch_size = {batch}\n"
        "with strategy.scope():\n"
        f"    model = {package}.models.load_model({json.dumps(model_file)})  # or build_model() and compile\n"
        "model.fit(x, y, batch_size=batch_size)\n"
    )


BATCH_NORMALISATION = (
    "from keras import layers\n\n"
    "layer = layers.BatchNormalization(synchronized=True)  # in place of each BatchNormalization()\n"
)


def learning_rate(devices: int, rate: float | None) -> str:
    """The rate for a batch that is `devices` times as large.

    Source: Goyal et al. 2017, Accurate, Large Minibatch SGD (linear scaling rule and warm-up), arXiv 1706.02677.
    """
    base = "learning_rate" if rate is None else f"{rate:.6g}"
    return (
        f"# {devices} times the batch: {devices} times the rate, reached over the first epochs (for Adam often less).\n"
        f"model.optimizer.learning_rate = {base} * {devices}\n"
    )


def batch_size(size: int, devices: int) -> str:
    """The call that keeps the batch of one device."""
    return f"model.fit(x, y, batch_size={size})  # of all {devices} replicas together: {max(1, size // devices)} each\n"


REDUCTION = """import tensorflow as tf

# With `fit`: only batches that all replicas share equally.
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)


# In a training loop of your own: divide by the rows of all replicas, not by those of one.
def loss_of(y_true, y_pred, loss):  # `loss` made with reduction="none"
    return tf.nn.compute_average_loss(loss(y_true, y_pred), global_batch_size=batch_size)
"""

RANDOM = (
    "import keras\n\n"
    "keras.utils.set_random_seed(0)  # repeats a run on the same devices; replicas still draw numbers of their own\n"
)
