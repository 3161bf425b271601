"""Arithmetic of memory: from a few measured batch sizes to what a larger one will need, and what fits."""
