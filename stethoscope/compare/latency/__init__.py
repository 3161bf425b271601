"""How long models take for the same input: calls timed in turns, as percentiles, by runtime and batch size."""
