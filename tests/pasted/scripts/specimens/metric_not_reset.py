"""Specimen of `metric_not_reset`."""

_SCRIPT = """
import keras

accuracy = keras.metrics.Accuracy()
for epoch in range(3):
    for x, y in data:
        accuracy.update_state(y, predict(x))
    print(accuracy.result())
{}""".lstrip()
FAULTY = _SCRIPT.format("")
LINE = 7
SOUND = _SCRIPT.format("    accuracy.reset_state()\n")
