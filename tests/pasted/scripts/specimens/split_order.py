"""Specimen of `split_order`."""

FAULTY = """
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

x_train, y_train, x_test, y_test = train_test_split(np.load("x.npy"), np.load("y.npy"))
""".lstrip()
LINE = 5
SOUND = """
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

x_train, x_test, y_train, y_test = train_test_split(np.load("x.npy"), np.load("y.npy"))
""".lstrip()
