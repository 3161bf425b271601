"""Arrays, texts and recordings that are read in place, a part at a time."""
