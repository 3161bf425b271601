"""The pages on deployment: convert, parity, drift."""
