"""Gathering evidence inside a worker: one module per kind, each returning its evidence type."""
