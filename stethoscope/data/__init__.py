"""Sample data that people bring, one file per kind, each defining READER."""
