"""Benchmarks: each claim of speed or memory as a ratio against the alternative, measured in the same run."""
