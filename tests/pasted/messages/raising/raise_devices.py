"""Memory, devices, compilation, and what belongs to another version."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import numpy as np

from tests.pasted.messages.raising.capture import alone


def out_of_memory_tensor(here: Path):
    import tensorflow as tf

    tf.zeros((4096, 12, 16384, 16384)) + 1


@alone
def host_allocation(here: Path):
    np.zeros((100_000, 1000, 1000, 8))


@alone
def killed(here: Path):
    os.kill(os.getpid(), signal.SIGKILL)


@alone
def segmentation_fault(here: Path):
    os.kill(os.getpid(), signal.SIGSEGV)


@alone
def out_of_memory_tensor__strings(here: Path):
    import tensorflow as tf

    tf.constant(1.0)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    tf.repeat(tf.constant(["x" * 100]), 200_000_000)


def configured_late(here: Path):
    import tensorflow as tf

    tf.constant(1.0)
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )


def configured_late__threads(here: Path):
    import tensorflow as tf

    tf.constant(1.0)
    tf.config.threading.set_inter_op_parallelism_threads(
        2 if tf.config.threading.get_inter_op_parallelism_threads() != 2 else 3
    )


@alone
def xla_device_clash(here: Path):
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    with tf.device("CPU:1"):
        kernel = tf.Variable(tf.ones((3, 3)))

    @tf.function(jit_compile=True)
    def predict(x):
        return x @ kernel

    with tf.device("CPU:0"):
        predict(tf.ones((1, 3)))


def xla_unsupported(here: Path):
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def decode(x):
        return tf.strings.length(tf.strings.as_string(x))

    decode(tf.constant([1, 2]))


def device_missing(here: Path):
    import tensorflow as tf

    tf.config.set_soft_device_placement(False)
    try:
        with tf.device("/device:GPU:0"):
            tf.matmul(tf.ones((2, 2)), tf.ones((2, 2)))
    finally:
        tf.config.set_soft_device_placement(True)


@alone
def strategy_scope(here: Path):
    import tensorflow as tf
    import tf_keras

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])
    with strategy.scope():
        model.compile("adam", "mse")
        model.fit(np.zeros((8, 3)), np.zeros((8, 1)), verbose=0)


def removed_api(here: Path):
    import tensorflow as tf

    tf.Session()


def moved_module(here: Path):
    from keras.engine import topology  # noqa: F401


def moved_module__contrib(here: Path):
    import tensorflow.contrib.slim  # noqa: F401


def module_missing(here: Path):
    import tensorflow_text  # noqa: F401


def protobuf_limit(here: Path):
    import tensorflow as tf

    with tf.Graph().as_default():
        tf.constant(np.zeros((600, 1000, 1000), "float32"))


def disk_full(here: Path):
    with Path("/dev/full").open("wb") as file:
        file.write(b"x" * 100_000)


def host_allocation__memory_error(here: Path):
    bytearray(1 << 60)


@alone
def notice_xla_service(here: Path):
    import tensorflow as tf

    tf.function(lambda x: x * 2, jit_compile=True)(tf.ones(3))
