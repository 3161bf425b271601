"""Specimens of the rules about scripts, one file each: FAULTY raises its rule at LINE, SOUND is its twin on which it stays silent."""
