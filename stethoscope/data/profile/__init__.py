"""What rows are like: statistics of arrays and targets."""
