"""Real trainings whose fault is known, and healthy ones, for `benchmarks.labelled_curves`."""
