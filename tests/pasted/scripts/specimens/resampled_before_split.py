"""Specimen of `resampled_before_split`."""

FAULTY = """
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split

from data import x, y

x, y = SMOTE().fit_resample(x, y)
x_train, x_test, y_train, y_test = train_test_split(x, y)
""".lstrip()
LINE = 6
SOUND = """
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split

from data import x, y

x_train, x_test, y_train, y_test = train_test_split(x, y)
x_train, y_train = SMOTE().fit_resample(x_train, y_train)
""".lstrip()
