"""The command line: one module for a command, and how each prints for people."""
