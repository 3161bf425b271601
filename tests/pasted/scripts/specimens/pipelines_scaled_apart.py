"""Specimen of `pipelines_scaled_apart`."""

FAULTY = """
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("photos/train").map(lambda x, y: (x / 255.0, y))
val = tf.keras.utils.image_dataset_from_directory("photos/val")
model = tf.keras.Sequential(
    [tf.keras.layers.Input((256, 256, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=val, epochs=5)
""".lstrip()
LINE = 9
SOUND = """
import tensorflow as tf

train = tf.keras.utils.image_dataset_from_directory("photos/train").map(lambda x, y: (x / 255.0, y))
val = tf.keras.utils.image_dataset_from_directory("photos/val").map(lambda x, y: (x / 255.0, y))
model = tf.keras.Sequential(
    [tf.keras.layers.Input((256, 256, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax")]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, validation_data=val, epochs=5)
""".lstrip()
