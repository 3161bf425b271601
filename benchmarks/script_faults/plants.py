"""Faults that people make, each planted into a copy of one sound script: what is replaced by what, and the line that is wrong.

Kinds from Humbatova et al. (ICSE 2020), NeuraLint (TOSEM 2021), UMLAUT (CHI 2021), TheDeepChecker (TOSEM 2023), the migration guides of
TensorFlow 2 and Keras 3, and questions on Stack Overflow. Every second one was kept back while the rules were written.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plant:
    """One fault."""

    id: str
    script: str
    changes: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]
    """Text of the lines that may be named."""


def _one(name: str, script: str, old: str, new: str, *marks: str) -> Plant:
    return Plant(name, script, ((old, new),), marks or (new.strip().split("\n")[0],))


_COMPILE_DIGITS = '    loss="categorical_crossentropy",'
_FIT_REVIEWS = "model.fit(x_train, y_train, batch_size=32, epochs=2, validation_data=(x_val, y_val))"

PLANTS: tuple[Plant, ...] = (
    _one("sparse loss on one-hot labels", "digits", _COMPILE_DIGITS, '    loss="sparse_categorical_crossentropy",', "model.compile(", "sparse_cat"),
    _one("categorical loss on class numbers", "folder", "loss=keras.losses.SparseCategoricalCrossentropy(),\n    metrics=[\"accuracy\"],\n)\nmodel.fit(train_ds, epochs=10", "loss=keras.losses.CategoricalCrossentropy(),\n    metrics=[\"accuracy\"],\n)\nmodel.fit(train_ds, epochs=10", "model.compile(", "CategoricalCrossentropy()"),
    _one("softmax over one unit", "reviews", 'Dense(1, activation="sigmoid")', 'Dense(1, activation="softmax")', "softmax"),
    _one("no activation, probabilities expected", "digits", 'layers.Dense(10, activation="softmax")', "layers.Dense(10)", "layers.Dense(10)", "model.compile(", _COMPILE_DIGITS),
    _one("from_logits behind softmax", "folder", "loss=keras.losses.SparseCategoricalCrossentropy(),\n    metrics=[\"accuracy\"],\n)\nmodel.fit(train_ds, epochs=10", "loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),\n    metrics=[\"accuracy\"],\n)\nmodel.fit(train_ds, epochs=10", "from_logits", "model.compile("),
    _one("units against classes", "digits", 'layers.Dense(10, activation="softmax")', 'layers.Dense(9, activation="softmax")', "Dense(9"),
    _one("categorical loss over one unit", "reviews", 'loss="binary_crossentropy"', 'loss="categorical_crossentropy"', "categorical"),
    _one("mse with accuracy", "prices", 'metrics=["mae"]', 'metrics=["accuracy"]', "accuracy"),
    _one("relu at the end of a regression", "prices", "model.add(layers.Dense(1))", 'model.add(layers.Dense(1, activation="relu"))', "Dense(1,"),
    _one("sigmoid at the end of a regression", "prices", "model.add(layers.Dense(1))", 'model.add(layers.Dense(1, activation="sigmoid"))', "Dense(1,"),
    _one("recurrent layer without return_sequences", "reviews", "layers.LSTM(64, return_sequences=True)", "layers.LSTM(64)", "LSTM(64)", "LSTM(32)"),
    _one("recurrent layer without return_sequences, in a list", "series", "layers.GRU(32, return_sequences=True)", "layers.GRU(32)", "GRU(32)", "GRU(16)"),
    _one("no Flatten", "digits", "        layers.Flatten(),\n", "", "layers.Dense(64", "layers.Dense(10", "layers.Dropout"),
    _one("linear hidden layers", "prices", 'model.add(layers.Dense(64, activation="relu"))\nmodel.add(layers.Dense(64, activation="relu"))', "model.add(layers.Dense(64))\nmodel.add(layers.Dense(64))", "Dense(64))"),
    _one("softmax between layers", "digits", 'layers.Dense(64, activation="relu")', 'layers.Dense(64, activation="softmax")', "Dense(64"),
    _one("weights of zero", "prices", 'model.add(layers.Dense(64, activation="relu"))\nmodel.add(layers.Dense(1))', 'model.add(layers.Dense(64, activation="relu", kernel_initializer="zeros"))\nmodel.add(layers.Dense(1))', "zeros"),
    _one("dropout above one", "digits", "layers.Dropout(0.5)", "layers.Dropout(5.0)", "Dropout(5"),
    _one("two-number input of a convolution", "digits", "keras.Input(shape=(28, 28, 1)),\n        layers.Conv2D(32, kernel_size=(3, 3), activation=\"relu\")", "layers.Conv2D(32, kernel_size=(3, 3), activation=\"relu\", input_shape=(28, 28))", "Conv2D"),
    _one("learning rate of one", "digits", "Adam(learning_rate=0.001)", "Adam(learning_rate=1.0)", "Adam"),
    _one("learning rate of 1e-9", "digits", "Adam(learning_rate=0.001)", "Adam(learning_rate=1e-9)", "Adam"),
    _one("lr", "folder", "keras.optimizers.Adam(1e-3)", "keras.optimizers.Adam(lr=1e-3)", "lr="),
    _one("nb_epoch", "prices", "epochs=100", "nb_epoch=100", "nb_epoch"),
    _one("np_utils", "digits", "from keras import layers\n", "from keras import layers\nfrom keras.utils import np_utils\n", "np_utils"),
    _one("advanced activations", "reviews", "from tensorflow.keras import layers, models\n", "from tensorflow.keras import layers, models\nfrom keras.layers.advanced_activations import LeakyReLU\n", "LeakyReLU"),
    _one("fit_generator", "cards", "model.fit(train", "model.fit_generator(train", "fit_generator"),
    _one("predict_classes", "digits", "classes = np.argmax(model.predict(x_test), axis=1)", "classes = model.predict_classes(x_test)", "predict_classes"),
    _one("a folder as the file of a model", "digits", 'model.save("final.keras")', 'model.save("final")', 'save("final'),
    _one("checkpoint as hdf5", "digits", '"digits.keras"', '"digits.hdf5"', "ModelCheckpoint"),
    _one("val_acc", "digits", 'history.history["val_accuracy"]', 'history.history["val_acc"]', "val_acc"),
    _one("monitor val_acc", "digits", 'EarlyStopping(monitor="val_loss"', 'EarlyStopping(monitor="val_acc"', "EarlyStopping"),
    _one("stopping without validation", "digits", "validation_split=0.1, ", "", "EarlyStopping", "model.fit"),
    _one("mode turned round", "digits", 'monitor="val_loss", patience=3', 'monitor="val_loss", mode="max", patience=3', "EarlyStopping"),
    _one("Session", "loop", "optimizer = keras", "sess = tf.Session()\noptimizer = keras", "Session"),
    _one("allow_growth of a logical device", "loop", "    tf.config.experimental.set_memory_growth(gpu, True)", "    tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=2048, allow_growth=True)])", "allow_growth"),
    _one("virtual_gpu", "loop", "inputs = keras.Input(shape=(784,))\n", 'with tf.device("/virtual_gpu:0"):\n    inputs = keras.Input(shape=(784,))\n', "virtual_gpu"),
    Plant("memory growth after an operation", "loop", (("gpus = tf.config", "probe = tf.constant(1.0)\ngpus = tf.config"),), ("set_memory_growth",)),
    Plant("memory growth below the data", "loop", (('for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)\n', ""), ("inputs = keras.Input", 'for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)\ninputs = keras.Input')), ("set_memory_growth",)),
    _one("scaled twice", "digits", "        layers.Conv2D(32", "        layers.Rescaling(1.0 / 255),\n        layers.Conv2D(32", "Rescaling", 'x_train = x_train.astype("float32") / 255.0'),
    _one("test rows not scaled", "digits", 'x_test = x_test.astype("float32") / 255.0', 'x_test = x_test.astype("float32")', "x_test = x_test.astype", "score = ", "classes = "),
    _one("result of astype dropped", "loop", 'x_train = x_train.reshape(-1, 784).astype("float32") / 255', 'x_train = x_train.reshape(-1, 784) / 255\nx_train.astype("float32")', 'x_train.astype("float32")'),
    _one("result of shuffle dropped", "folder", "train_ds = train_ds.cache().shuffle(1000).prefetch(tf.data.AUTOTUNE)", "train_ds.shuffle(1000)", "train_ds.shuffle"),
    _one("scaler fitted on the test rows", "prices", "x_test = scaler.transform(x_test)", "x_test = scaler.fit_transform(x_test)", "x_test = scaler"),
    Plant("scaler fitted before the split", "prices", (("x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)\nscaler = StandardScaler()\nx_train = scaler.fit_transform(x_train)\nx_test = scaler.transform(x_test)\n", "scaler = StandardScaler()\nx = scaler.fit_transform(x)\nx_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)\n"),), ("fit_transform",)),
    _one("windows split at random", "series", ", shuffle=False)", ")", "train_test_split(x"),
    _one("trained on the test rows", "digits", "model.fit(x_train, y_train", "model.fit(x_test, y_test", "model.fit"),
    _one("validated on the training rows", "reviews", "validation_data=(x_val, y_val)", "validation_data=(x_train, y_train)", "model.fit"),
    _one("rows and labels shuffled apart", "prices", "model = keras.Sequential()", "np.random.shuffle(x_train)\nnp.random.shuffle(y_train)\nmodel = keras.Sequential()", "np.random.shuffle(x_train)", "np.random.shuffle(y_train)"),
    _one("subsets with other seeds", "folder", 'subset="validation", seed=1337', 'subset="validation", seed=7', 'subset="validation"', "val_ds = keras"),
    _one("subsets without a seed", "folder", 'subset="training", seed=1337', 'subset="training"', 'subset="training"', "train_ds = keras"),
    _one("shuffled before take and skip", "loop", "train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64)", "full = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024)\ntrain = full.skip(1000).batch(64)\nvalid = full.take(1000).batch(64)", "full = ", "train = full", "valid = full"),
    _one("generator that shuffles, compared with its classes", "cards", ', class_mode="binary", shuffle=False', ', class_mode="binary"', "test = test_datagen", "cards/test", "scores = ", "test.classes"),
    _one("augmented validation", "cards", "test = test_datagen.flow", "test = train_datagen.flow", "test = train_datagen", "cards/test", "validation_data"),
    _one("argmax over one sigmoid unit", "reviews", '(model.predict(x_val) > 0.5).astype("int32")', "model.predict(x_val).argmax(axis=-1)", "predicted ="),
    _one("categorical labels for one unit", "cards", 'target_size=(96, 96), batch_size=16, class_mode="binary")', "target_size=(96, 96), batch_size=16)", "train = train_datagen", "model.compile", "Dense(1"),
    _one("model outside the scope", "cards", "with strategy.scope():\n    model = Sequential()", "if True:\n    model = Sequential()", "strategy = ", "model = Sequential()"),
    Plant("built outside, compiled inside", "cards", (("with strategy.scope():\n    model = Sequential()", "if True:\n    model = Sequential()"), ("    model.compile(", "with strategy.scope():\n    model.compile(")), ("model = Sequential()", "model.compile")),
    _one("loss outside the tape", "loop", "        loss = loss_fn(y, logits)\n    gradients", "    loss = loss_fn(y, logits)\n    gradients", "loss = loss_fn"),
    _one("no training=True", "loop", "model(x, training=True)", "model(x)", "logits = model(x)"),
    _one("gradients alone", "loop", "zip(gradients, model.trainable_weights)", "gradients", "apply_gradients"),
    _one("pairs turned round", "loop", "zip(gradients, model.trainable_weights)", "zip(model.trainable_weights, gradients)", "apply_gradients"),
    _one("reset_states", "loop", "accuracy.reset_state()", "accuracy.reset_states()", "reset_states"),
    Plant("optimizer in the loop", "loop", (("@tf.function\ndef train_step(x, y):\n", "def train_step(x, y, optimizer):\n"), ("        loss = train_step(x_batch, y_batch)", "        optimizer = keras.optimizers.SGD(learning_rate=1e-2)\n        loss = train_step(x_batch, y_batch, optimizer)")), ("        optimizer = keras",)),
    Plant("freed without compiling", "folder", (("model.compile(\n    optimizer=keras.optimizers.Adam(1e-5),\n    loss=keras.losses.SparseCategoricalCrossentropy(),\n    metrics=[\"accuracy\"],\n)\n", ""),), ("base.trainable = True", "model.fit(train_ds, epochs=5")),
    _one("never compiled", "series", 'model.compile(optimizer="adam", loss="mae")\n', "", "model.fit", "model = keras"),
    _one("repeat without steps", "loop", "train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64)", "train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64).repeat()\nprobe = keras.Sequential([keras.layers.Dense(10)])\nprobe.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\nprobe.fit(train, epochs=2)", "probe.fit", "repeat()"),
    _one("validation_split of a dataset", "folder", "model.fit(train_ds, epochs=10, validation_data=val_ds)", "model.fit(train_ds, epochs=10, validation_split=0.2)", "validation_split=0.2)"),
    _one("steps as a fraction", "cards", "epochs=20, validation", "epochs=20, steps_per_epoch=train.samples / 16, validation", "steps_per_epoch"),
    _one("embedding too small", "reviews", "layers.Embedding(max_features, 128)", "layers.Embedding(5000, 128)", "Embedding"),
    _one("numpy in a loss", "series", 'model.compile(optimizer="adam", loss="mae")', 'def error(truth, predicted):\n    return np.mean(np.abs(truth - predicted))\n\n\nmodel.compile(optimizer="adam", loss=error)', "np.mean"),
    _one("a loss without gradient", "digits", "model.compile(\n    loss=\"categorical_crossentropy\"", 'def miss(truth, predicted):\n    return keras.ops.mean(keras.ops.cast(keras.ops.argmax(truth, -1) != keras.ops.argmax(predicted, -1), "float32"))\n\n\nmodel.compile(\n    loss=miss', "return keras.ops.mean", "loss=miss"),
    _one("predict in a loop", "series", "model.evaluate(x_test[..., None], y_test)", "for row in x_test:\n    print(model.predict(row[None, :, None]))", "model.predict"),
    _one("the kernel of the wrong package", "folder", "import tensorflow as tf\n", "import tensorflow as tf\nimport tensorflow_addons as tfa\n", "addons"),
    _one("hub layer in a model of Keras 3", "folder", "x = base(x, training=False)", 'import tensorflow_hub as hub\n\nx = hub.KerasLayer("https://tfhub.dev/google/imagenet/mobilenet_v2_100_224/feature_vector/5")(x)', "KerasLayer"),
    _one("preprocessing of another network", "folder", "keras.applications.mobilenet_v2.preprocess_input(inputs)", "keras.applications.vgg16.preprocess_input(inputs)", "preprocess_input"),
    _one("no preprocessing", "folder", "x = keras.applications.mobilenet_v2.preprocess_input(inputs)\nx = base(x, training=False)", "x = base(inputs, training=False)", "base = keras", "x = base"),
    _one("rescaled for a network that scales itself", "folder", "base = keras.applications.MobileNetV2(include_top=False, weights=\"imagenet\", input_shape=(180, 180, 3))\nbase.trainable = False\ninputs = keras.Input(shape=(180, 180, 3))\nx = keras.applications.mobilenet_v2.preprocess_input(inputs)", "base = keras.applications.EfficientNetB0(include_top=False, weights=\"imagenet\", input_shape=(180, 180, 3))\nbase.trainable = False\ninputs = keras.Input(shape=(180, 180, 3))\nx = keras.layers.Rescaling(1.0 / 255)(inputs)", "Rescaling", "EfficientNet"),
    _one("labels scaled too", "prices", "x_test = scaler.transform(x_test)", "x_test = scaler.transform(x_test)\ny_train = y_train / 255.0", "y_train = y_train / 255"),
    _one("metrics as a text", "series", 'loss="mae")', 'loss="mae", metrics="mse")', "metrics="),
    _one("binary loss over classes", "digits", _COMPILE_DIGITS, '    loss="binary_crossentropy",', "model.compile(", "binary_cross"),
    _one("a layer that is dropped", "folder", "x = keras.layers.Dropout(0.2)(x)", "keras.layers.Dropout(0.2)(x)", "Dropout(0.2)"),
    _one("environment below the import", "loop", "gpus = tf.config", 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"\ngpus = tf.config', "KERAS_BACKEND"),
    _one("ConfigProto", "cards", "strategy = tf", "config = tf.ConfigProto()\nstrategy = tf", "ConfigProto"),
    _one("contrib", "loop", "optimizer = keras", "init = tf.contrib.layers.xavier_initializer()\noptimizer = keras", "contrib"),
    _one("session of the backend", "digits", "score = model", "keras.backend.set_session(None)\nscore = model", "set_session"),
    _one("batch of the whole test in fit", "reviews", _FIT_REVIEWS, "model.fit(x_train, y_val, batch_size=32, epochs=2)", "model.fit"),
    _one("labels given to evaluate from the training", "digits", "model.evaluate(x_test, y_test, verbose=0)", "model.evaluate(x_test, y_train, verbose=0)", "evaluate"),
    _one("validation rows with training labels", "reviews", "validation_data=(x_val, y_val)", "validation_data=(x_val, y_train)", "model.fit"),
    _one("dataset without a batch", "loop", "test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)", "test = tf.data.Dataset.from_tensor_slices((x_train, y_train))\nprobe = keras.Sequential([keras.layers.Dense(10)])\nprobe.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\nprobe.fit(test, epochs=2)", "probe.fit", "test = "),
)  # fmt: skip
