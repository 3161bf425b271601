"""How many examples a property test draws: a few each time, many when somebody goes looking for faults."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

FACTOR = int(os.environ.get("STETHOSCOPE_TEST_EXAMPLES", "1"))


def examples(count: int, **more: Any) -> settings:
    """Returns the settings of one property test, as its decorator.

    Args:
        count: examples in an ordinary run; a search for faults multiplies it by `STETHOSCOPE_TEST_EXAMPLES`.
        **more: other settings of this one test. What all tests share is the profile's.
    """
    return settings(max_examples=count * FACTOR, deadline=None, **more)
