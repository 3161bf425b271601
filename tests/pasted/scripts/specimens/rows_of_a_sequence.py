"""Specimen of `rows_of_a_sequence`."""

FAULTY = """
import numpy as np
from tensorflow import keras


class Rows(keras.utils.Sequence):
    def __init__(self, files, labels):
        super().__init__()
        self.files, self.labels = files, labels

    def __len__(self):
        return len(self.files) // 8

    def __getitem__(self, i):
        files = self.files[i * 8 : i * 8 + 8]
        return np.stack([np.load(one) for one in files]), np.array(self.labels[i * 8 : i * 8 + 8])

    def on_epoch_end(self):
        np.random.shuffle(self.files)
""".lstrip()
LINE = 18
SOUND = """
import numpy as np
from tensorflow import keras


class Rows(keras.utils.Sequence):
    def __init__(self, files, labels):
        super().__init__()
        self.files, self.labels = files, labels
        self.order = np.arange(len(files))

    def __len__(self):
        return len(self.files) // 8

    def __getitem__(self, i):
        rows = self.order[i * 8 : i * 8 + 8]
        return np.stack([np.load(self.files[one]) for one in rows]), np.array([self.labels[one] for one in rows])

    def on_epoch_end(self):
        np.random.shuffle(self.order)
""".lstrip()
