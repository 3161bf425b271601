"""Columns: how they are stored, what they hold, and how they become samples and arrays."""
