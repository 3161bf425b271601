"""Specimen of `shuffled_windows`."""

_SCRIPT = """
from sklearn.model_selection import train_test_split

x, y = [], []
for i in range(len(series) - 24):
    x.append(series[i : i + 24])
    y.append(series[i + 24])
x_train, x_test, y_train, y_test = train_test_split(x, y{})
""".lstrip()
FAULTY = _SCRIPT.format("")
LINE = 7
SOUND = _SCRIPT.format(", shuffle=False")
