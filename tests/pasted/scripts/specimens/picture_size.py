"""Specimen of `picture_size`."""

FAULTY = """
import keras

train = keras.utils.image_dataset_from_directory("train", image_size=(150, 150))
test = keras.utils.image_dataset_from_directory("test")
model = keras.Sequential(
    [keras.Input((150, 150, 3)), keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(5, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=test)
""".lstrip()
LINE = 4
SOUND = """
import keras

train = keras.utils.image_dataset_from_directory("train", image_size=(150, 150))
test = keras.utils.image_dataset_from_directory("test").map(lambda x, y: (keras.ops.image.resize(x, (150, 150)), y))
model = keras.Sequential(
    [keras.Input((150, 150, 3)), keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(5, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=test)
""".lstrip()
