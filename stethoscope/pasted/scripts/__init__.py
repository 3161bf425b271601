"""Training scripts and notebooks: read as text, never run; what is wrong in them, line by line (one file each: RULE)."""

from __future__ import annotations
