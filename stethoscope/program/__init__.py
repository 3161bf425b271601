"""A training program as a value: the model's configuration, compile, fit, changes to data."""
