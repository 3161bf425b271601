"""Specimen of `made_in_each_call`."""

FAULTY = """
import tensorflow as tf


class Net(tf.keras.Model):
    def call(self, x):
        h = tf.keras.layers.Flatten()(x)
        return tf.keras.layers.Dense(10)(h)
""".lstrip()
LINE = 7
SOUND = """
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.last = tf.keras.layers.Dense(10)

    def call(self, x):
        return self.last(tf.keras.layers.Flatten()(x))


optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(x):
    return tf.reduce_sum(x)


print(step(tf.ones(3)).numpy())
""".lstrip()
