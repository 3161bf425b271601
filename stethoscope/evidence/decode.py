"""From a worker's JSON to evidence. A worker may have run a hostile model: everything is validated by type."""

from __future__ import annotations

from typing import Any, TypeVar

from stethoscope.errors import StethoscopeError

T = TypeVar("T")


def decode(kind: type[T], value: Any) -> T:
    """Returns `value` as the frozen dataclass `kind`; text such as "nan" becomes the number it names.

    Raises:
        StethoscopeError: `value` does not have that shape.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise StethoscopeError(
            f"The worker's answer: expected {kind.__name__}, got {first['msg']} at {place}."
        ) from error
