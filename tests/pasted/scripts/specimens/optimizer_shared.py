"""Specimen of `optimizer_shared`."""

FAULTY = """
import tensorflow as tf

a = tf.keras.Sequential([tf.keras.layers.Dense(1)])
b = tf.keras.Sequential([tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam()


def step(ga, gb):
    opt.apply_gradients(zip(ga, a.trainable_variables))
    opt.apply_gradients(zip(gb, b.trainable_variables))


step([], [])
""".lstrip()
LINE = 10
SOUND = """
import tensorflow as tf

a = tf.keras.Sequential([tf.keras.layers.Dense(1)])
b = tf.keras.Sequential([tf.keras.layers.Dense(1)])
opt_a, opt_b = tf.keras.optimizers.Adam(), tf.keras.optimizers.Adam()


def step(ga, gb):
    opt_a.apply_gradients(zip(ga, a.trainable_variables))
    opt_b.apply_gradients(zip(gb, b.trainable_variables))


step([], [])
""".lstrip()
