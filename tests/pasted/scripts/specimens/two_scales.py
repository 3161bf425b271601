"""Specimen of `two_scales`."""

FAULTY = """
import numpy as np
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import MinMaxScaler
from tensorflow import keras

scaler = MinMaxScaler()
y = scaler.fit_transform(np.load("y.npy"))
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.load("x.npy"), y)
predicted = model.predict(np.load("x_test.npy"))
true = scaler.inverse_transform(scaler.transform(np.load("y_test.npy")))
print(mean_squared_error(true, predicted))
""".lstrip()
LINE = 13
SOUND = """
import numpy as np
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import MinMaxScaler
from tensorflow import keras

scaler = MinMaxScaler()
y = scaler.fit_transform(np.load("y.npy"))
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.load("x.npy"), y)
predicted = scaler.inverse_transform(model.predict(np.load("x_test.npy")))
true = scaler.inverse_transform(scaler.transform(np.load("y_test.npy")))
print(mean_squared_error(true, predicted))
""".lstrip()
