"""Specimen of `loss_not_scaled`."""

FAULTY = """
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
optimizer = keras.optimizers.Adam()


def step(model, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x, training=True)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
""".lstrip()
LINE = 11
SOUND = """
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())


def step(model, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - model(x, training=True)))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
""".lstrip()
