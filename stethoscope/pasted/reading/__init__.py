"""A pasted text, read: its lines, its tracebacks, and what kinds of messages say about it."""
