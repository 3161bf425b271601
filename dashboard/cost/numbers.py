"""Numbers that people type into one field."""

from __future__ import annotations


def numbers(text: str) -> list[int] | None:
    """The whole numbers above 0 in a list with commas or spaces, ascending; None where something else stands."""
    parts = text.replace(",", " ").split()
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        return None
    return sorted({int(part) for part in parts})
