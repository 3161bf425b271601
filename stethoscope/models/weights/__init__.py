"""Weights where they lie: one layer's tensors read straight from a file of any format, in pieces, without loading the model."""
