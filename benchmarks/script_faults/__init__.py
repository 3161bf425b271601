"""Sound training scripts, and faults that people make planted into them: what `benchmarks/scripts.py` scores."""
