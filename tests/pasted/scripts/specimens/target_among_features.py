"""Specimen of `target_among_features`."""

FAULTY = """
import pandas as pd
from sklearn.model_selection import train_test_split

table = pd.read_csv("houses.csv")
y = table["price"].values
x = table.drop(columns=["id"]).values
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=1)
""".lstrip()
LINE = 6
SOUND = """
import pandas as pd
from sklearn.model_selection import train_test_split

table = pd.read_csv("houses.csv")
y = table["price"].values
x = table.drop(columns=["id", "price"]).values
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=1)
""".lstrip()
