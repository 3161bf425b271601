"""Specimen of `evaluate_order`."""

_SCRIPT = """
{} = model.evaluate(x_test, y_test)
""".lstrip()
FAULTY = _SCRIPT.format("accuracy, loss")
LINE = 1
SOUND = _SCRIPT.format("loss, accuracy")
