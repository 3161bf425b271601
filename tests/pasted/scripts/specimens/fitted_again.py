"""Specimen of `fitted_again`."""

FAULTY = """
import pandas as pd
from sklearn.preprocessing import StandardScaler
from keras import Sequential, layers

train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
y = train.pop("y")
scaler = StandardScaler()
model = Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(scaler.fit_transform(train), y)
model.predict(scaler.fit_transform(test))
""".lstrip()
LINE = 11
SOUND = """
import pandas as pd
from sklearn.preprocessing import StandardScaler
from keras import Sequential, layers

train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
y = train.pop("y")
scaler = StandardScaler()
model = Sequential([layers.Dense(8, activation="relu"), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(scaler.fit_transform(train), y)
model.predict(scaler.transform(test))
""".lstrip()
