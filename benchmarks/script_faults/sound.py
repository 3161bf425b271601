"""Sound scripts of seven kinds that run with TensorFlow 2.21 and Keras 3. Faults are planted into copies."""

from __future__ import annotations

DIGITS = """
import numpy as np
import keras
from keras import layers

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train = x_train.astype("float32") / 255.0
x_test = x_test.astype("float32") / 255.0
x_train = np.expand_dims(x_train, -1)
x_test = np.expand_dims(x_test, -1)
y_train = keras.utils.to_categorical(y_train, 10)
y_test = keras.utils.to_categorical(y_test, 10)

model = keras.Sequential(
    [
        keras.Input(shape=(28, 28, 1)),
        layers.Conv2D(32, kernel_size=(3, 3), activation="relu"),
        layers.MaxPooling2D(pool_size=(2, 2)),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(64, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ]
)
model.compile(
    loss="categorical_crossentropy",
    optimizer=keras.optimizers.Adam(learning_rate=0.001),
    metrics=["accuracy"],
)
callbacks = [
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True),
    keras.callbacks.ModelCheckpoint("digits.keras", save_best_only=True),
]
history = model.fit(x_train, y_train, batch_size=128, epochs=15, validation_split=0.1, callbacks=callbacks)
print(history.history["val_accuracy"])
score = model.evaluate(x_test, y_test, verbose=0)
classes = np.argmax(model.predict(x_test), axis=1)
model.save("final.keras")
""".lstrip()

REVIEWS = """
import tensorflow as tf
from tensorflow.keras import layers, models
from tensorflow.keras.preprocessing.sequence import pad_sequences

max_features = 20000
maxlen = 200
(x_train, y_train), (x_val, y_val) = tf.keras.datasets.imdb.load_data(num_words=max_features)
x_train = pad_sequences(x_train, maxlen=maxlen)
x_val = pad_sequences(x_val, maxlen=maxlen)

model = models.Sequential()
model.add(layers.Embedding(max_features, 128))
model.add(layers.LSTM(64, return_sequences=True))
model.add(layers.LSTM(32))
model.add(layers.Dense(16, activation="relu"))
model.add(layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=32, epochs=2, validation_data=(x_val, y_val))
predicted = (model.predict(x_val) > 0.5).astype("int32")
""".lstrip()

FOLDER = """
import tensorflow as tf
from tensorflow import keras

train_ds = keras.utils.image_dataset_from_directory(
    "photos", validation_split=0.2, subset="training", seed=1337, image_size=(180, 180), batch_size=32
)
val_ds = keras.utils.image_dataset_from_directory(
    "photos", validation_split=0.2, subset="validation", seed=1337, image_size=(180, 180), batch_size=32
)
train_ds = train_ds.cache().shuffle(1000).prefetch(tf.data.AUTOTUNE)
val_ds = val_ds.cache().prefetch(tf.data.AUTOTUNE)

base = keras.applications.MobileNetV2(include_top=False, weights="imagenet", input_shape=(180, 180, 3))
base.trainable = False
inputs = keras.Input(shape=(180, 180, 3))
x = keras.applications.mobilenet_v2.preprocess_input(inputs)
x = base(x, training=False)
x = keras.layers.GlobalAveragePooling2D()(x)
x = keras.layers.Dropout(0.2)(x)
outputs = keras.layers.Dense(5, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
model.fit(train_ds, epochs=10, validation_data=val_ds)
base.trainable = True
model.compile(
    optimizer=keras.optimizers.Adam(1e-5),
    loss=keras.losses.SparseCategoricalCrossentropy(),
    metrics=["accuracy"],
)
model.fit(train_ds, epochs=5, validation_data=val_ds)
""".lstrip()

PRICES = """
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tensorflow import keras
from tensorflow.keras import layers

(x, y), (x_new, y_new) = keras.datasets.california_housing.load_data(version="small")
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)

model = keras.Sequential()
model.add(keras.Input(shape=(x_train.shape[1],)))
model.add(layers.Dense(64, activation="relu"))
model.add(layers.Dense(64, activation="relu"))
model.add(layers.Dense(1))
model.compile(loss="mse", optimizer="adam", metrics=["mae"])
model.fit(x_train, y_train, epochs=100, batch_size=32, validation_split=0.2, verbose=0)
print(model.evaluate(x_test, y_test))
""".lstrip()

SERIES = """
import numpy as np
from sklearn.model_selection import train_test_split
import keras
from keras import layers

series = np.load("temperature.npy")


def windows(values, length):
    x, y = [], []
    for i in range(len(values) - length):
        x.append(values[i : i + length])
        y.append(values[i + length])
    return np.array(x), np.array(y)


x, y = windows(series, 24)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, shuffle=False)
model = keras.Sequential(
    [
        keras.Input(shape=(24, 1)),
        layers.GRU(32, return_sequences=True),
        layers.GRU(16),
        layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mae")
model.fit(x_train[..., None], y_train, epochs=20, batch_size=64)
model.evaluate(x_test[..., None], y_test)
""".lstrip()

LOOP = """
import numpy as np
import tensorflow as tf
import keras

gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)

(x_train, y_train), (x_test, y_test) = keras.datasets.fashion_mnist.load_data()
x_train = x_train.reshape(-1, 784).astype("float32") / 255
x_test = x_test.reshape(-1, 784).astype("float32") / 255
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)

inputs = keras.Input(shape=(784,))
x = keras.layers.Dense(128, activation="relu")(inputs)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.Dropout(0.3)(x)
outputs = keras.layers.Dense(10)(x)
model = keras.Model(inputs, outputs)
optimizer = keras.optimizers.SGD(learning_rate=1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    gradients = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    accuracy.update_state(y, logits)
    return loss


for epoch in range(5):
    for x_batch, y_batch in train:
        loss = train_step(x_batch, y_batch)
    print(epoch, float(loss), float(accuracy.result()))
    accuracy.reset_state()
""".lstrip()

CARDS = """
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, MaxPooling2D, Flatten, Dense, Dropout
from tensorflow.keras.preprocessing.image import ImageDataGenerator

train_datagen = ImageDataGenerator(rescale=1.0 / 255, rotation_range=20, horizontal_flip=True)
test_datagen = ImageDataGenerator(rescale=1.0 / 255)
train = train_datagen.flow_from_directory("cards/train", target_size=(96, 96), batch_size=16, class_mode="binary")
test = test_datagen.flow_from_directory(
    "cards/test", target_size=(96, 96), batch_size=16, class_mode="binary", shuffle=False
)

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = Sequential()
    model.add(Conv2D(32, (3, 3), activation="relu", input_shape=(96, 96, 3)))
    model.add(MaxPooling2D((2, 2)))
    model.add(Conv2D(64, (3, 3), activation="relu"))
    model.add(MaxPooling2D((2, 2)))
    model.add(Flatten())
    model.add(Dense(64, activation="relu"))
    model.add(Dropout(0.5))
    model.add(Dense(1, activation="sigmoid"))
    model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])

model.fit(train, epochs=20, validation_data=test)
scores = model.predict(test)
found = (scores[:, 0] > 0.5).astype(int)
print((found == test.classes).mean())
""".lstrip()

SOUND = {
    "digits": DIGITS,
    "reviews": REVIEWS,
    "folder": FOLDER,
    "prices": PRICES,
    "series": SERIES,
    "loop": LOOP,
    "cards": CARDS,
}
