"""Specimen of `pretrained_input`."""

_SCRIPT = """
import keras

inputs = keras.Input((224, 224, 3))
x = keras.applications.{}.preprocess_input(inputs)
base = keras.applications.MobileNetV2(include_top=False, pooling="avg")
model = keras.Model(inputs, keras.layers.Dense(5, activation="softmax")(base(x)))
""".lstrip()
FAULTY = _SCRIPT.format("vgg16")
LINE = 4
SOUND = _SCRIPT.format("mobilenet_v2")
