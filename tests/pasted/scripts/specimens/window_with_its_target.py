"""Specimen of `window_with_its_target`."""

FAULTY = """
import numpy as np

series = np.load("prices.npy")
x, y = [], []
for i in range(60, len(series)):
    x.append(series[i - 60 : i + 1])
    y.append(series[i])
""".lstrip()
LINE = 6
SOUND = """
import numpy as np

series = np.load("prices.npy")
x, y = [], []
for i in range(60, len(series)):
    x.append(series[i - 60 : i])
    y.append(series[i])
""".lstrip()
