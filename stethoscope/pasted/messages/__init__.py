"""Kinds of error messages, one file each (`MESSAGE`): how it is recognised, what is read from it, its cause, what to do.

A kind may have many wordings, older ones of TensorFlow 1, Keras 2 included; another cause is another kind.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping

from stethoscope.discover import discover
from stethoscope.pasted.messages.message import Message


@functools.cache
def all_messages() -> Mapping[str, Message]:
    """Every kind by its id."""
    return discover(sys.modules[__name__], "MESSAGE", "id")
