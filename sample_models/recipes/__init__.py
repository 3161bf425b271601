"""One file per sample model, each defining RECIPE."""
