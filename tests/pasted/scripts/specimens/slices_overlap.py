"""Specimen of `slices_overlap`."""

FAULTY = """
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
x_train, y_train = x[:4000], y[:4000]
x_test = x[3000:]
y_test = y[4000:]
""".lstrip()
LINE = 5
SOUND = """
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
x_train, y_train = x[:4000], y[:4000]
x_test = x[4000:]
y_test = y[4000:]
""".lstrip()
