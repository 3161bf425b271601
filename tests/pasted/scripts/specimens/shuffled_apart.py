"""Specimen of `shuffled_apart`."""

FAULTY = """
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
np.random.shuffle(x)
np.random.shuffle(y)
""".lstrip()
LINE = 5
SOUND = """
import numpy as np

x, y = np.load("x.npy"), np.load("y.npy")
order = np.random.permutation(len(x))
x, y = x[order], y[order]
""".lstrip()
