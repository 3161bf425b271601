"""Specimen of `scaled_by_all_rows`."""

FAULTY = """
import numpy as np
import keras

data = np.load("rows.npy")
data = (data - data.mean(axis=0)) / data.std(axis=0)
train, test = data[:800], data[800:]
""".lstrip()
LINE = 5
SOUND = """
import numpy as np
import keras

data = np.load("rows.npy")
train, test = data[:800], data[800:]
mean, std = train.mean(axis=0), train.std(axis=0)
train, test = (train - mean) / std, (test - mean) / std
""".lstrip()
