"""Training a copy of the user's model in a worker: set it up, run it with instruments, compare runs."""
