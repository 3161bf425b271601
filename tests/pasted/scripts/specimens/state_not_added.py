"""Specimen of `state_not_added`."""

FAULTY = """
import tensorflow as tf


class Hits(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.hits = self.add_weight(name="hits", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.hits.assign(tf.reduce_sum(y_true * tf.round(y_pred)))

    def result(self):
        return self.hits
""".lstrip()
LINE = 10
SOUND = """
import tensorflow as tf


class Hits(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.hits = self.add_weight(name="hits", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.hits.assign_add(tf.reduce_sum(y_true * tf.round(y_pred)))

    def result(self):
        return self.hits
""".lstrip()
