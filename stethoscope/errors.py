"""Everything we can say no with.

    StethoscopeError            something we cannot do; its text is safe to show and says what to do next
    ├── UnreadableFile          the bytes are not what they claim to be: wrong suffix, truncated, empty, not a model
    ├── CannotRun               a good file that no installed runtime can execute (custom operator, missing class)
    ├── OutOfMemory             the job needed more memory than its limit; carries what was measured
    ├── BadInput                the input data does not fit the model's inputs
    ├── UnsafeFile              refused: the file tries something no model needs
    │   ├── TooLarge            refused: it declares or inflates to more than the budget allows
    │   │   └── OverBudget      of data: more than the memory of this job; with more it could be read
    │   └── NeedsTrust          holds code (a Lambda, an unknown class); runs only after the owner's explicit yes
    ├── NotFound                no such model, job or link, or not for this owner
    ├── QuotaExceeded           the store or the owner's share of it is full
    └── BadSetting              a setting or command-line value that makes no sense

A problem *in the model* is a `Finding`, never an exception. Any other exception is a bug: the user sees a short id,
the log has the traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class StethoscopeError(Exception):
    """Something we cannot do. The message is one or two sentences, safe to show to a user.

    Attributes:
        details: JSON values for the report: what is known all the same.
    """

    exit_code = 2

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.details = dict(details or {})


class UnreadableFile(StethoscopeError):
    """The bytes are not what they claim to be."""


class CannotRun(StethoscopeError):
    """The file is fine, but nothing installed here can execute it."""


class OutOfMemory(StethoscopeError):
    """The job needed more memory than its limit; its details are what was measured, what failed, what would fit."""


class BadInput(StethoscopeError):
    """The data does not fit the model's inputs."""


class UnsafeFile(StethoscopeError):
    """Refused: the file tries something that no model needs."""

    exit_code = 3


class TooLarge(UnsafeFile):
    """Refused: the file declares, or inflates to, more than the budget allows."""


class OverBudget(TooLarge):
    """Data takes more than the memory of whoever reads it; with more it could be read.

    Attributes:
        needs_bytes: what it takes, as far as that is known; 0 where it is not.
    """

    def __init__(self, message: str, needs_bytes: int = 0) -> None:
        super().__init__(message)
        self.needs_bytes = needs_bytes


class NeedsTrust(UnsafeFile):
    """The file holds code; it runs only after its owner said yes for this very file."""


class NotFound(StethoscopeError):
    """No such model, job or link, or it belongs to somebody else."""


class QuotaExceeded(StethoscopeError):
    """The store, or the owner's share of it, is full."""


class BadSetting(StethoscopeError):
    """A setting or command-line value that makes no sense."""


def by_name(name: str) -> type[StethoscopeError]:
    """Returns the class a worker named in its answer, or `StethoscopeError` for a name we do not know."""
    found = [StethoscopeError]
    for kind in found:
        if kind.__name__ == name:
            return kind
        found.extend(kind.__subclasses__())
    return StethoscopeError
