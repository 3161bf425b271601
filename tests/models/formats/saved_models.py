"""Real SavedModels, as the frameworks write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.frameworks import keras, tf, tf_keras


def save_all(out: Path) -> Path:
    """keras3, keras2 (with what they answer as .npy), stateful, words, bare, writes, reads and tf1 below `out`."""
    keras.utils.clear_session()
    tf_keras.backend.clear_session()
    (out / "vocab.txt").write_text("cat\ndog\nbird\n")

    inputs = keras.Input((6,), name="features")
    x = keras.layers.BatchNormalization()(keras.layers.Dense(5, activation="relu")(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dropout(0.5)(x)))
    model.layers[1].trainable = False
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.zeros((8, 6)), np.zeros((8, 2)), verbose=0)
    model.export(out / "keras3", verbose=False)
    np.save(out / "keras3.npy", model.predict(np.arange(12.0).reshape(2, 6), verbose=0))

    inputs = tf_keras.Input((4,), dtype="int32", name="tokens")
    x = tf_keras.layers.LSTM(5)(tf_keras.layers.Embedding(9, 3)(inputs))
    model = tf_keras.Model(inputs, tf_keras.layers.Dense(2)(x))
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0)
    model.save(out / "keras2")
    np.save(out / "keras2.npy", model.predict(np.arange(8).reshape(2, 4), verbose=0))

    inputs = keras.Input((5, 3))
    model = keras.Model(inputs, keras.layers.LSTM(4, dropout=0.5)(inputs))
    model.export(out / "stateful", verbose=False)

    class Words(tf.Module):
        def __init__(self):
            initializer = tf.lookup.TextFileInitializer(
                str(out / "vocab.txt"),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )
            self.table = tf.lookup.StaticVocabularyTable(initializer, 1)
            self.vectors = tf.Variable(np.eye(4, 3, dtype="float32"))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def vector(self, words):
            return {"vector": tf.gather(self.vectors, self.table.lookup(words))}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def number(self, words):
            return {"number": self.table.lookup(words)}

    words = Words()
    tf.saved_model.save(words, out / "words", signatures={"vector": words.vector, "number": words.number})

    class Bare(tf.Module):
        def __init__(self):
            self.w = tf.Variable(np.ones((4, 3), "float32"))

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def __call__(self, x):
            return x @ self.w

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def double(self, x):
            return x @ self.w * 2.0

    tf.saved_model.save(Bare(), out / "bare")

    class Writes(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def serve(self, x):
            with tf.control_dependencies([tf.raw_ops.WriteFile(filename=str(out / "marker"), contents="x")]):
                return {"y": tf.identity(x)}

    writes = Writes()
    tf.saved_model.save(writes, out / "writes", signatures={"serving_default": writes.serve})

    class Reads(tf.Module):
        def __init__(self):
            class Table(tf.saved_model.experimental.TrackableResource):
                def _create_resource(self):
                    return tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")

                def _initialize(self):
                    tf.raw_ops.InitializeTableFromTextFileV2(
                        table_handle=self.resource_handle, filename=str(out / "vocab.txt"), key_index=-2, value_index=-1
                    )

            self.table = Table()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def serve(self, x):
            return {"y": x + tf.cast(tf.raw_ops.LookupTableSizeV2(table_handle=self.table.resource_handle), tf.float32)}

    reads = Reads()
    tf.saved_model.save(reads, out / "reads", signatures={"serving_default": reads.serve})

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None, 4], "x")
        w = tf.compat.v1.get_variable("w", initializer=np.full((4, 3), 2.0, "float32"), use_resource=False)
        b = tf.compat.v1.get_variable("b", initializer=np.ones(3, "float32"), use_resource=True)
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        tf.compat.v1.train.AdamOptimizer().minimize(tf.reduce_mean(y))
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.saved_model.simple_save(session, str(out / "tf1"), {"x": x}, {"y": y})
    return out
