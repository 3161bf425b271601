"""JSON that somebody else wrote, read without trusting anything about the file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MOST_BYTES = 256 << 20


def read_json(path: Path, limit_bytes: int = MOST_BYTES) -> Mapping[str, Any] | None:
    """Reads a JSON object that a worker wrote, trusting nothing about the file; None when it is not one.

    The worker may have run hostile code: the name may be a link, a pipe or a terabyte.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit_bytes:
            return None
        try:
            value = json.loads(stream.read(limit_bytes))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
