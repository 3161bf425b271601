"""Specimen of `custom_loop`."""

FAULTY = """
import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
loss_fn = keras.losses.MeanSquaredError()
for x, y in data:
    with tf.GradientTape() as tape:
        predicted = model(x, training=True)
    loss = loss_fn(y, predicted)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""".lstrip()
LINE = 10
SOUND = """
import keras
import tensorflow as tf

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()
loss_fn = keras.losses.MeanSquaredError()
for x, y in data:
    with tf.GradientTape() as tape:
        predicted = model(x, training=True)
        loss = loss_fn(y, predicted)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""".lstrip()
