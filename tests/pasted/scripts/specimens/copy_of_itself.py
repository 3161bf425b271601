"""Specimen of `copy_of_itself`."""

FAULTY = """
from tensorflow import keras

q_net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
target_net = q_net
target_net.set_weights(q_net.get_weights())
""".lstrip()
LINE = 4
SOUND = """
from tensorflow import keras

q_net = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
target_net = keras.models.clone_model(q_net)
target_net.set_weights(q_net.get_weights())
""".lstrip()
