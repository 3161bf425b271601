"""Specimen of `logical_device`."""

FAULTY = """
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(
    gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=4096, allow_growth=True)]
)
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_logical_device_configuration(
    gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=4096)]
)
""".lstrip()
