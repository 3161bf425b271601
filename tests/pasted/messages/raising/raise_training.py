"""What goes wrong in and around `fit`, and in own training loops."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def _model():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


_X, _Y = np.zeros((8, 3), "float32"), np.zeros((8, 1), "float32")


def no_gradient(here: Path):
    model = _model()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.cast(tf.argmax(model(_X), axis=1), tf.float32))
    model.optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )


def gradient_missing(here: Path):
    entry = keras.Input((3,))
    model = keras.Model(entry, [keras.layers.Dense(1, name="used")(entry), keras.layers.Dense(1, name="unused")(entry)])
    optimizer = keras.optimizers.Adam()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(_X)[0])
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )


def check_numerics(here: Path):
    tf.debugging.check_numerics(tf.math.log(tf.constant([1.0, -1.0])), "loss of the generator")


def loss_became_nan(here: Path):
    model = _model()
    model.fit(_X * np.nan, _Y, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=2)


def nan_in_summary(here: Path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.summary.histogram("dense/kernel", tf.constant([float("nan")])))


def not_compiled(here: Path):
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)]).evaluate(_X, _Y)


def not_built(here: Path):
    keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)]).count_params()


def optimizer_variable(here: Path):
    optimizer = keras.optimizers.Adam()
    optimizer.build(_model().trainable_variables)
    other = _model()
    optimizer.apply([tf.zeros_like(v) for v in other.trainable_variables], other.trainable_variables)


def retracing(here: Path):
    @tf.function
    def step(x):
        return x + 1

    for number in range(8):
        step(number)


def tensor_out_of_scope(here: Path):
    kept = []

    @tf.function
    def step(x):
        kept.append(x * 2)
        return x

    step(tf.constant(1.0))
    tf.reduce_sum(kept[0]) + 1
    tf.function(lambda: kept[0] + 1)()


def symbolic_bool(here: Path):
    @tf.function(autograph=False)
    def step(x):
        return x if x > 0 else -x

    step(tf.constant(1.0))


def symbolic_to_numpy(here: Path):
    @tf.function
    def step(x):
        return np.mean(x)

    step(tf.constant([1.0]))


def no_numpy_attribute(here: Path):
    @tf.function
    def step(x):
        return x.numpy()

    step(tf.constant([1.0]))


def variable_in_function(here: Path):
    @tf.function
    def step(x):
        return tf.Variable(x)

    step(tf.constant([1.0]))


def keras_tensor_in_function(here: Path):
    entry = keras.Input((3,))
    tf.reduce_sum(entry, axis=1)


def eager_off(here: Path):
    tf.compat.v1.placeholder(tf.float32, (None, 3))


def uninitialised_variable(here: Path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        kernel = tf.compat.v1.get_variable("kernel", (3, 4))
        session.run(kernel)


def file_suffix__checkpoint(here: Path):
    keras.callbacks.ModelCheckpoint("best.h5py")


def monitor_missing(here: Path):
    _model().fit(_X, _Y, epochs=2, callbacks=[keras.callbacks.EarlyStopping(monitor="val_accuracy")], verbose=0)


def optimizer_argument(here: Path):
    keras.optimizers.Adam(lr=0.01)


def removed_method(here: Path):
    _model().predict_classes(_X)


def removed_argument(here: Path):
    _model().fit(_X, _Y, use_multiprocessing=True)


def layer_argument(here: Path):
    keras.layers.Dense(10, input_shapes=(5,))


def symbolic_bool__iterating(here: Path):
    @tf.function(autograph=False)
    def step(x):
        return list(x)

    step(tf.zeros((3, 2)))


def unknown_name(here: Path):
    _model().compile("adamm", "mse")


def learning_rate_not_settable(here: Path):
    model = _model()
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)), "mse")
    model.fit(_X, _Y, callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=0)], epochs=3, verbose=0)


def monitor_missing__warning(here: Path):
    _model().fit(_X, _Y, epochs=2, callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss")], verbose=0)


def history_key(here: Path):
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["accuracy"])
    print(model.fit(np.zeros((4, 2)), np.zeros(4), verbose=0).history["acc"])


def history_not_model(here: Path):
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model = model.fit(np.zeros((4, 2)), np.zeros(4), verbose=0)
    model.predict(np.zeros((4, 2)))


def no_gradient_defined(here: Path):
    import tensorflow as tf

    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = tf.raw_ops.FractionalMaxPoolGrad(
            orig_input=tf.ones((1, 2, 2, 1)),
            orig_output=tf.ones((1, 1, 1, 1)),
            out_backprop=tf.reshape(x[:, :1], (1, 1, 1, 1)),
            row_pooling_sequence=[0, 2],
            col_pooling_sequence=[0, 2],
        )
    tape.gradient(y, x)


def class_weight_outputs(here: Path):
    given = keras.Input((4,))
    model = keras.Model(given, [keras.layers.Dense(2)(given), keras.layers.Dense(2)(given)])
    model.compile("adam", ["mse", "mse"])
    model.fit(np.ones((8, 4)), [np.ones((8, 2)), np.ones((8, 2))], class_weight={0: 1.0, 1: 2.0}, verbose=0)


def ids_not_whole(here: Path):
    tf.nn.embedding_lookup(tf.ones((5, 3)), tf.constant([1.0, 2.0]))


def ids_not_whole__function(here: Path):
    tf.function(lambda ids: tf.gather(tf.ones((5, 3)), ids))(tf.constant([1.0]))


def missing_argument(here: Path):
    keras.layers.Dense()


def missing_argument__call(here: Path):
    class Sum(keras.layers.Layer):
        def call(self, a, b):
            return a + b

    Sum()(np.ones((2, 2)))
