"""Specimen of `scaler_left_out`."""

FAULTY = """
import keras
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

x_train, x_test, y_train, y_test = train_test_split(x, y)
scaler = StandardScaler()
x_scaled = scaler.fit_transform(x_train)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x_scaled, y_train)
model.evaluate(x_test, y_test)
""".lstrip()
LINE = 11
SOUND = """
import keras
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

x_train, x_test, y_train, y_test = train_test_split(x, y)
scaler = StandardScaler()
x_scaled = scaler.fit_transform(x_train)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x_scaled, y_train)
model.evaluate(scaler.transform(x_test), y_test)
""".lstrip()
