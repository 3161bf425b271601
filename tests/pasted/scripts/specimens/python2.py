"""Specimen of `python2`."""

FAULTY = """
import keras

print "epochs", 3
""".lstrip()
LINE = 3
SOUND = """
import keras

print("epochs", 3)
""".lstrip()
