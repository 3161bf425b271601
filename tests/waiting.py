"""Waiting for what happens beside a test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def until(condition: Callable[[], Value], timeout_s: float = 120.0, every_s: float = 0.02) -> Value:
    """What the condition gives once it holds. However busy the machine is, what is waited for is that it comes, not when."""
    end = time.monotonic() + timeout_s
    while not (value := condition()):
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(every_s)
    return value
