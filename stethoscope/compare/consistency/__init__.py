"""Does a model answer the same question the same way: one file per kind of test, and the study that runs them all."""
