"""Specimen of `picture_read_otherwise`."""

FAULTY = """
import cv2
from tensorflow import keras

rows = keras.utils.image_dataset_from_directory("leaves", image_size=(128, 128))
model = keras.Sequential(
    [
        keras.layers.Input((128, 128, 3)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.Flatten(),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(rows)
picture = cv2.imread("new.jpg")
print(model.predict(cv2.resize(picture, (128, 128))[None]))
""".lstrip()
LINE = 15
SOUND = """
import cv2
from tensorflow import keras

rows = keras.utils.image_dataset_from_directory("leaves", image_size=(128, 128))
model = keras.Sequential(
    [
        keras.layers.Input((128, 128, 3)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.Flatten(),
        keras.layers.Dense(2, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(rows)
picture = cv2.cvtColor(cv2.imread("new.jpg"), cv2.COLOR_BGR2RGB)
print(model.predict(cv2.resize(picture, (128, 128))[None]))
""".lstrip()
