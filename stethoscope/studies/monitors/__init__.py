"""Drift over time: what is watched, kept, and who is told."""
