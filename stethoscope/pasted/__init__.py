"""What people hold in the hand: error messages and training scripts, read and never run."""
