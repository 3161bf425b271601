"""Specimen of `batches_overlap`."""

FAULTY = """
import keras


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, idx):
        return self.x[idx : idx + self.size]
""".lstrip()
LINE = 9
SOUND = """
import keras


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, idx):
        return self.x[idx * self.size : (idx + 1) * self.size]
""".lstrip()
