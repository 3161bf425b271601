"""The Samples page, and the choice of data on every other one: rows, distributions, fit to the model, doubts."""
