"""Rules about training scripts, one file each: RULE."""
