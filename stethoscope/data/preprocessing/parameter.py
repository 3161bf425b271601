"""What a step may be told: the name, kind and bounds of each parameter, and one way to check them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from stethoscope.errors import BadSetting

Kind = Literal["number", "count", "flag", "choice", "numbers", "counts", "texts"]
"""`count` is a whole number; `numbers`, `counts` and `texts` are lists."""
REQUIRED: Final = object()
"""As a default: the parameter has to be given."""
MAX_LIST = 100_000
MAX_TEXT = 500


@dataclass(frozen=True)
class Parameter:
    """One parameter of a step."""

    name: str
    title: str
    """For people, as the label of a field."""
    kind: Kind
    default: Any = REQUIRED
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    help: str = ""


def checked(step: str, parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters in their own types, defaults filled in, in the order of `parameters`.

    Raises:
        BadSetting: one is missing, unknown, of the wrong kind or out of bounds.
    """
    known = {one.name for one in parameters}
    for name in given:
        if name not in known:
            raise BadSetting(
                f"Step {step}: expected the parameters {sorted(known)}, got {str(name)[:40]!r}. Leave it out."
            )
    found: dict[str, Any] = {}
    for one in parameters:
        if given.get(one.name) is not None:
            found[one.name] = _value(step, one, given[one.name])
        elif one.default is REQUIRED:
            raise BadSetting(f"Step {step}: expected a value for {one.name!r}, got none. Give it.")
        else:
            found[one.name] = one.default
    return found


def _value(step: str, one: Parameter, value: Any) -> Any:
    try:
        return _CONVERTERS[one.kind](one, value)
    except (TypeError, ValueError, OverflowError) as error:
        shown = str(value)[:60]
        raise BadSetting(
            f"Step {step}: expected {one.name} to be {_expected(one)}, got {shown!r}. Change it."
        ) from error


def _number(one: Parameter, value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    number = float(value)
    if not math.isfinite(number) or not one.least <= number <= one.most:
        raise ValueError
    return number


def _count(one: Parameter, value: Any) -> int:
    number = _number(one, value)
    if number != int(number):
        raise ValueError
    return int(number)


def _flag(_one: Parameter, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _choice(one: Parameter, value: Any) -> str:
    if value not in one.choices:
        raise ValueError
    return str(value)


def _text(_one: Parameter, value: Any) -> str:
    if isinstance(value, Mapping | list | tuple) or len(str(value)) > MAX_TEXT:
        raise TypeError
    return str(value)


def _listed(convert: Callable[[Parameter, Any], Any]) -> Callable[[Parameter, Any], tuple[Any, ...]]:
    def convert_all(one: Parameter, value: Any) -> tuple[Any, ...]:
        values = value if isinstance(value, list | tuple) else [value]
        if not 0 < len(values) <= MAX_LIST:
            raise ValueError
        return tuple(convert(one, item) for item in values)

    return convert_all


_CONVERTERS: Mapping[Kind, Callable[[Parameter, Any], Any]] = {
    "number": _number, "count": _count, "flag": _flag, "choice": _choice,
    "numbers": _listed(_number), "counts": _listed(_count), "texts": _listed(_text),
}  # fmt: skip


def _expected(one: Parameter) -> str:
    if one.kind == "choice":
        return f"one of {', '.join(one.choices)}"
    words = {
        "number": "a number", "count": "a whole number", "flag": "true or false", "numbers": "a list of numbers",
        "counts": "a list of whole numbers", "texts": "a list of texts",
    }[one.kind]  # fmt: skip
    if math.isfinite(one.least) and math.isfinite(one.most):
        return f"{words} from {one.least:g} to {one.most:g}"
    if math.isfinite(one.least):
        return f"{words}, at least {one.least:g}"
    return words
