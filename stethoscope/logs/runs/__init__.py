"""Runs on disk: what a worker read of logs, as columns that the server maps, merges and answers windows of."""
