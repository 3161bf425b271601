"""Specimen of `adversary_not_frozen`."""

FAULTY = """
import keras

judge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
judge.compile("adam", "binary_crossentropy")
maker = keras.Sequential([keras.Input((8,)), keras.layers.Dense(2)])
z = keras.Input((8,))
joint = keras.Model(z, judge(maker(z)))
joint.compile("adam", "binary_crossentropy")
judge.train_on_batch(x, y)
joint.train_on_batch(noise, ones)
""".lstrip()
LINE = 7
SOUND = """
import keras

judge = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
judge.compile("adam", "binary_crossentropy")
maker = keras.Sequential([keras.Input((8,)), keras.layers.Dense(2)])
z = keras.Input((8,))
judge.trainable = False
joint = keras.Model(z, judge(maker(z)))
joint.compile("adam", "binary_crossentropy")
judge.train_on_batch(x, y)
joint.train_on_batch(noise, ones)
""".lstrip()
