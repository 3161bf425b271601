"""From evidence to findings in order: which checks run, causes before symptoms, findings as JSON."""
