"""Specimen of `generator_scaled_on_one_side`."""

FAULTY = """
import keras
from pictures import ImageDataGenerator

train = ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
test = ImageDataGenerator()
model = keras.models.load_model("start.keras")
model.fit(train.flow_from_directory("a"), validation_data=test.flow_from_directory("b"))
""".lstrip()
LINE = 5
SOUND = """
import keras
from pictures import ImageDataGenerator

train = ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
test = ImageDataGenerator(rescale=1 / 255)
model = keras.models.load_model("start.keras")
model.fit(train.flow_from_directory("a"), validation_data=test.flow_from_directory("b"))
""".lstrip()
