"""Specimen of `returns_forward`."""

FAULTY = """
import numpy as np


def returns_of(rewards, gamma=0.99):
    found, total = [], 0.0
    for reward in rewards:
        total = reward + gamma * total
        found.append(total)
    return np.array(found)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np


def returns_of(rewards, gamma=0.99):
    found, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        found.append(total)
    return np.array(found[::-1])
""".lstrip()
