"""Specimen of `mismatched_rows`."""

FAULTY = """
import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit(x_train / 255.0, y_train)
model.evaluate(x_test / 255.0, y_train)
""".lstrip()
LINE = 7
SOUND = """
import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit(x_train / 255.0, y_train)
model.evaluate(x_test / 255.0, y_test)
""".lstrip()
