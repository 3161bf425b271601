"""Model files: containers read within bounds, one file for each format, weights without a graph."""
