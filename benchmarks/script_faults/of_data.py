"""Planted faults, a part of them: see `plants.py`."""

from __future__ import annotations

from benchmarks.script_faults.plant import Plant, one

_COMPILE_DIGITS = '    loss="categorical_crossentropy",'
_FIT_REVIEWS = "model.fit(x_train, y_train, batch_size=32, epochs=2, validation_data=(x_val, y_val))"

PLANTS: tuple[Plant, ...] = (
    one("reset_states", "loop", "accuracy.reset_state()", "accuracy.reset_states()", "reset_states"),
    Plant(
        "optimizer in the loop",
        "loop",
        (
            ("@tf.function\ndef train_step(x, y):\n", "def train_step(x, y, optimizer):\n"),
            (
                "        loss = train_step(x_batch, y_batch)",
                "        optimizer = keras.optimizers.SGD(learning_rate=1e-2)\n        loss = train_step(x_batch, y_batch, optimizer)",
            ),
        ),
        ("        optimizer = keras",),
    ),
    Plant(
        "freed without compiling",
        "folder",
        (
            (
                'model.compile(\n    optimizer=keras.optimizers.Adam(1e-5),\n    loss=keras.losses.SparseCategoricalCrossentropy(),\n    metrics=["accuracy"],\n)\n',
                "",
            ),
        ),
        ("base.trainable = True", "model.fit(train_ds, epochs=5"),
    ),
    one("never compiled", "series", 'model.compile(optimizer="adam", loss="mae")\n', "", "model.fit", "model = keras"),
    one(
        "repeat without steps",
        "loop",
        "train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64)",
        "train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(64).repeat()\nprobe = keras.Sequential([keras.layers.Dense(10)])\nprobe.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\nprobe.fit(train, epochs=2)",
        "probe.fit",
        "repeat()",
    ),
    one(
        "validation_split of a dataset",
        "folder",
        "model.fit(train_ds, epochs=10, validation_data=val_ds)",
        "model.fit(train_ds, epochs=10, validation_split=0.2)",
        "validation_split=0.2)",
    ),
    one(
        "steps as a fraction",
        "cards",
        "epochs=20, validation",
        "epochs=20, steps_per_epoch=train.samples / 16, validation",
        "steps_per_epoch",
    ),
    one(
        "embedding too small",
        "reviews",
        "layers.Embedding(max_features, 128)",
        "layers.Embedding(5000, 128)",
        "Embedding",
    ),
    one(
        "numpy in a loss",
        "series",
        'model.compile(optimizer="adam", loss="mae")',
        'def error(truth, predicted):\n    return np.mean(np.abs(truth - predicted))\n\n\nmodel.compile(optimizer="adam", loss=error)',
        "np.mean",
    ),
    one(
        "a loss without gradient",
        "digits",
        'model.compile(\n    loss="categorical_crossentropy"',
        'def miss(truth, predicted):\n    return keras.ops.mean(keras.ops.cast(keras.ops.argmax(truth, -1) != keras.ops.argmax(predicted, -1), "float32"))\n\n\nmodel.compile(\n    loss=miss',
        "return keras.ops.mean",
        "loss=miss",
    ),
    one(
        "predict in a loop",
        "series",
        "model.evaluate(x_test[..., None], y_test)",
        "for row in x_test:\n    print(model.predict(row[None, :, None]))",
        "model.predict",
    ),
    one(
        "the kernel of the wrong package",
        "folder",
        "import tensorflow as tf\n",
        "import tensorflow as tf\nimport tensorflow_addons as tfa\n",
        "addons",
    ),
    one(
        "hub layer in a model of Keras 3",
        "folder",
        "x = base(x, training=False)",
        'import tensorflow_hub as hub\n\nx = hub.KerasLayer("https://tfhub.dev/google/imagenet/mobilenet_v2_100_224/feature_vector/5")(x)',
        "KerasLayer",
    ),
    one(
        "preprocessing of another network",
        "folder",
        "keras.applications.mobilenet_v2.preprocess_input(inputs)",
        "keras.applications.vgg16.preprocess_input(inputs)",
        "preprocess_input",
    ),
    one(
        "no preprocessing",
        "folder",
        "x = keras.applications.mobilenet_v2.preprocess_input(inputs)\nx = base(x, training=False)",
        "x = base(inputs, training=False)",
        "base = keras",
        "x = base",
    ),
    one(
        "rescaled for a network that scales itself",
        "folder",
        'base = keras.applications.MobileNetV2(include_top=False, weights="imagenet", input_shape=(180, 180, 3))\nbase.trainable = False\ninputs = keras.Input(shape=(180, 180, 3))\nx = keras.applications.mobilenet_v2.preprocess_input(inputs)',
        'base = keras.applications.EfficientNetB0(include_top=False, weights="imagenet", input_shape=(180, 180, 3))\nbase.trainable = False\ninputs = keras.Input(shape=(180, 180, 3))\nx = keras.layers.Rescaling(1.0 / 255)(inputs)',
        "Rescaling",
        "EfficientNet",
    ),
    one(
        "labels scaled too",
        "prices",
        "x_test = scaler.transform(x_test)",
        "x_test = scaler.transform(x_test)\ny_train = y_train / 255.0",
        "y_train = y_train / 255",
    ),
    one("metrics as a text", "series", 'loss="mae")', 'loss="mae", metrics="mse")', "metrics="),
    one(
        "binary loss over classes",
        "digits",
        _COMPILE_DIGITS,
        '    loss="binary_crossentropy",',
        "model.compile(",
        "binary_cross",
    ),
    one(
        "a layer that is dropped",
        "folder",
        "x = keras.layers.Dropout(0.2)(x)",
        "keras.layers.Dropout(0.2)(x)",
        "Dropout(0.2)",
    ),
    one(
        "environment below the import",
        "loop",
        "gpus = tf.config",
        'import os\n\nos.environ["KERAS_BACKEND"] = "jax"\ngpus = tf.config',
        "KERAS_BACKEND",
    ),
    one("ConfigProto", "cards", "strategy = tf", "config = tf.ConfigProto()\nstrategy = tf", "ConfigProto"),
    one(
        "contrib",
        "loop",
        "optimizer = keras",
        "init = tf.contrib.layers.xavier_initializer()\noptimizer = keras",
        "contrib",
    ),
    one(
        "session of the backend",
        "digits",
        "score = model",
        "keras.backend.set_session(None)\nscore = model",
        "set_session",
    ),
    one(
        "batch of the whole test in fit",
        "reviews",
        _FIT_REVIEWS,
        "model.fit(x_train, y_val, batch_size=32, epochs=2)",
        "model.fit",
    ),
    one(
        "labels given to evaluate from the training",
        "digits",
        "model.evaluate(x_test, y_test, verbose=0)",
        "model.evaluate(x_test, y_train, verbose=0)",
        "evaluate",
    ),
    one(
        "validation rows with training labels",
        "reviews",
        "validation_data=(x_val, y_val)",
        "validation_data=(x_val, y_train)",
        "model.fit",
    ),
    one(
        "dataset without a batch",
        "loop",
        "test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(64)",
        "test = tf.data.Dataset.from_tensor_slices((x_train, y_train))\nprobe = keras.Sequential([keras.layers.Dense(10)])\nprobe.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))\nprobe.fit(test, epochs=2)",
        "probe.fit",
        "test = ",
    ),
)
