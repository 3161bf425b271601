"""What a file is when it is none of our formats."""
