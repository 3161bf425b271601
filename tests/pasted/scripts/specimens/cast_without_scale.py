"""Specimen of `cast_without_scale`."""

FAULTY = """
import numpy as np
import tensorflow as tf

x = np.load("x.npy") / 255.0
converter = tf.lite.TFLiteConverter.from_saved_model("exported")
converter.inference_input_type = tf.uint8
interpreter = tf.lite.Interpreter(model_content=converter.convert())
interpreter.allocate_tensors()
index = interpreter.get_input_details()[0]["index"]
interpreter.set_tensor(index, x[:1].astype(np.uint8))
""".lstrip()
LINE = 10
SOUND = """
import numpy as np
import tensorflow as tf

x = np.load("x.npy") / 255.0
converter = tf.lite.TFLiteConverter.from_saved_model("exported")
converter.inference_input_type = tf.uint8
interpreter = tf.lite.Interpreter(model_content=converter.convert())
interpreter.allocate_tensors()
details = interpreter.get_input_details()[0]
scale, zero = details["quantization"]
interpreter.set_tensor(details["index"], np.clip(np.round(x[:1] / scale + zero), 0, 255).astype(np.uint8))
""".lstrip()
