"""The child side of a job: fork server, containment, and the loop that runs one task."""
