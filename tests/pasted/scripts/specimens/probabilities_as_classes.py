"""Specimen of `probabilities_as_classes`."""

FAULTY = """
import keras
from sklearn.metrics import confusion_matrix

from data import x, y, x_test, y_test

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
print(confusion_matrix(y_test, model.predict(x_test).ravel()))
""".lstrip()
LINE = 9
SOUND = """
import keras
from sklearn.metrics import confusion_matrix, roc_auc_score

from data import x, y, x_test, y_test

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
p = model.predict(x_test).ravel()
print(confusion_matrix(y_test, p > 0.5), roc_auc_score(y_test, p))
""".lstrip()
