"""Specimen of `other_package`."""

FAULTY = """
import keras
import tensorflow_hub as hub

layer = hub.KerasLayer("https://tfhub.dev/google/nnlm-en-dim50/2")
""".lstrip()
LINE = 4
SOUND = """
import keras
import tensorflow_hub as hub

layer = hub.load("https://tfhub.dev/google/nnlm-en-dim50/2")
""".lstrip()
