"""Specimen of `leaking_split`."""

FAULTY = """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from data import x, y

x_train, x_test, y_train, y_test = train_test_split(x, y)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.fit_transform(x_test)
""".lstrip()
LINE = 9
SOUND = """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from data import x, y

x_train, x_test, y_train, y_test = train_test_split(x, y)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)
""".lstrip()
