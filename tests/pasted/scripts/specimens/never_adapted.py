"""Specimen of `never_adapted`."""

FAULTY = """
from keras import layers

words = layers.TextVectorization(max_tokens=1000)
print(words(["a text"]))
""".lstrip()
LINE = 3
SOUND = """
from keras import layers

words = layers.TextVectorization(max_tokens=1000)
words.adapt(["a text"])
print(words(["a text"]))
""".lstrip()
