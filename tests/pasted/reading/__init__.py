"""Reading what was pasted."""
