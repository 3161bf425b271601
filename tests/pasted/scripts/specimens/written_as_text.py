"""Specimen of `written_as_text`."""

FAULTY = """
import tensorflow as tf

converter = tf.lite.TFLiteConverter.from_saved_model("exported")
content = converter.convert()
with open("model.tflite", "w") as file:
    file.write(content)
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf

converter = tf.lite.TFLiteConverter.from_saved_model("exported")
content = converter.convert()
with open("model.tflite", "wb") as file:
    file.write(content)
with open("size.txt", "w") as file:
    file.write(str(len(content)))
""".lstrip()
