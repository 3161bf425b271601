"""Specimen of `tensors_not_allocated`."""

FAULTY = """
import numpy as np
import tensorflow as tf

interpreter = tf.lite.Interpreter("model.tflite")
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.load("x.npy"))
interpreter.invoke()
""".lstrip()
LINE = 4
SOUND = """
import numpy as np
import tensorflow as tf

interpreter = tf.lite.Interpreter("model.tflite")
interpreter.allocate_tensors()
interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.load("x.npy"))
interpreter.invoke()
""".lstrip()
