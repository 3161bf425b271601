"""What a log says of a training."""
