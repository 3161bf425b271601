"""Between typed values and JSON: what workers send to their parent, and the shapes of the command line.

JSON that somebody else wrote, read without trusting anything about the file.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import stat
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stethoscope.errors import StethoscopeError
from stethoscope.types import JobResult

if TYPE_CHECKING:
    from pydantic import TypeAdapter


SCHEMA_VERSION = 1
T = TypeVar("T")


def answer_of(result: JobResult, kind: type[T]) -> T:
    """What a job answered, as its task's type.

    Raises:
        StethoscopeError: the answer does not have that shape, or there is none.
    """
    return decode(kind, result.value)


def partial_of(result: JobResult, kind: type[T]) -> T | None:
    """What a job that did not come to its end had found by then; None where that is not enough for its type."""
    return fitting(kind, result.value)


def fitting(kind: type[T], value: Any) -> T | None:
    """`decode` of what may have another shape; None where it has."""
    try:
        return decode(kind, value)
    except StethoscopeError:
        return None


def decode(kind: type[T], value: Any) -> T:
    """Returns JSON as the frozen dataclass it was made from; text such as "nan" becomes the number it names.

    A worker may have run a hostile model: everything is validated by type.

    Raises:
        StethoscopeError: `value` does not have that shape.
    """
    from pydantic import ValidationError

    try:
        decoded: T = _adapter(cast(Hashable, kind)).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise StethoscopeError(
            f"The worker's answer: expected {kind.__name__}, got {first['msg']} at {place}."
        ) from error
    return decoded


def ready(kind: type[object]) -> None:
    """Makes the next `decode` of this type quick: what it needs is imported and built now."""
    _adapter(cast(Hashable, kind))


@functools.cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cast(type[Any], kind))


class WritesItself:
    """A value whose JSON is not that of its fields. It reads itself with `__get_pydantic_core_schema__` where that is not enough."""

    def to_json(self) -> Any:
        """What stands for it, for `plain`."""
        raise NotImplementedError


def plain(value: Any, depth: int = 0) -> Any:
    """Returns `value` as strict JSON: dataclasses become objects, NaN and infinities their names, unknown objects text.

    What writes itself is asked for what it writes.
    """
    if depth > 50:
        return "…"
    if isinstance(value, WritesItself):
        return plain(value.to_json(), depth + 1)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    return str(value)


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
