"""Rows as a model takes them: batches, made inputs, and how two outputs differ."""
