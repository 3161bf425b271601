"""Specimen of `folds_seeded_in_order`."""

FAULTY = """
import tensorflow as tf
from sklearn.model_selection import KFold

folds = KFold(n_splits=5, random_state=1)
""".lstrip()
LINE = 4
SOUND = """
import tensorflow as tf
from sklearn.model_selection import KFold

folds = KFold(n_splits=5, random_state=1, shuffle=True)
""".lstrip()
