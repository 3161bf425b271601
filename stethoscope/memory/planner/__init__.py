"""Arithmetic of many devices: what a model needs on each of them, which split of the work fits, and the code for it."""
