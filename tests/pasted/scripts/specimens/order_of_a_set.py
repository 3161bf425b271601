"""Specimen of `order_of_a_set`."""

FAULTY = """
words = open("train.txt").read().split()
vocabulary = set(words)
index = {word: number for number, word in enumerate(vocabulary, 1)}
""".lstrip()
LINE = 3
SOUND = """
words = open("train.txt").read().split()
vocabulary = sorted(set(words))
index = {word: number for number, word in enumerate(vocabulary, 1)}
""".lstrip()
