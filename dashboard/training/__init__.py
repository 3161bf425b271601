"""The Curves page: logs, runs, charts, comparison, media, versions of data."""
