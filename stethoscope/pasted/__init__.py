"""What people hold in the hand, read and never run: error messages and training scripts."""
