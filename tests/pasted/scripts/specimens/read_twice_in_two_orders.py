"""Specimen of `read_twice_in_two_orders`."""

FAULTY = """
import numpy as np
import keras

test = keras.utils.image_dataset_from_directory("test")
model = keras.models.load_model("best.keras")
truth = np.concatenate([y for x, y in test])
classes = np.argmax(model.predict(test), axis=1)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
import keras

test = keras.utils.image_dataset_from_directory("test", shuffle=False)
model = keras.models.load_model("best.keras")
truth = np.concatenate([y for x, y in test])
classes = np.argmax(model.predict(test), axis=1)
""".lstrip()
