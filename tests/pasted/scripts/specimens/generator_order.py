"""Specimen of `generator_order`."""

FAULTY = """
from keras import Sequential, layers
from pictures import scaled
from sklearn.metrics import confusion_matrix

gen = scaled()
train = gen.flow_from_directory("train", target_size=(32, 32), classes=["a", "b"])
test = gen.flow_from_directory("test", target_size=(32, 32), classes=["a", "b"])
model = Sequential([layers.Input((32, 32, 3)), layers.Flatten(), layers.Dense(2, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
model.fit(train)
print(confusion_matrix(test.classes, model.predict(test).argmax(axis=1)))
""".lstrip()
LINE = 7
SOUND = """
from keras import Sequential, layers
from pictures import scaled
from sklearn.metrics import confusion_matrix

gen = scaled()
train = gen.flow_from_directory("train", target_size=(32, 32), classes=["a", "b"])
test = gen.flow_from_directory("test", target_size=(32, 32), classes=["a", "b"], shuffle=False)
model = Sequential([layers.Input((32, 32, 3)), layers.Flatten(), layers.Dense(2, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
model.fit(train)
print(confusion_matrix(test.classes, model.predict(test).argmax(axis=1)))
""".lstrip()
