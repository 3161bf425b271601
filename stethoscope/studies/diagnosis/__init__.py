"""A diagnosis: evidence gathered stage by stage, checks run on it, causes put before symptoms, fixes proved."""
