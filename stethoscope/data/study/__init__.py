"""What data looks like as a whole: statistics of every field, classes, pictures, texts and marks, streamed row by row."""
