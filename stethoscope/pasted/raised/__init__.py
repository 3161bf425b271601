"""What the frameworks say when they raise, as a table made by `python -m tools.raise_sites`: for messages that no kind knows."""
