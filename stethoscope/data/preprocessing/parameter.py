"""What a step may be told: the name, kind and bounds of each parameter, and one way to check them.

One change to data on its way into a model: applied to arrays, shown as code, kept as JSON.

What a step asks of an array before it changes it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


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
    "number": _number,
    "count": _count,
    "flag": _flag,
    "choice": _choice,
    "numbers": _listed(_number),
    "counts": _listed(_count),
    "texts": _listed(_text),
}


def _expected(one: Parameter) -> str:
    if one.kind == "choice":
        return f"one of {', '.join(one.choices)}"
    words = {
        "number": "a number",
        "count": "a whole number",
        "flag": "true or false",
        "numbers": "a list of numbers",
        "counts": "a list of whole numbers",
        "texts": "a list of texts",
    }[one.kind]
    if math.isfinite(one.least) and math.isfinite(one.most):
        return f"{words} from {one.least:g} to {one.most:g}"
    if math.isfinite(one.least):
        return f"{words}, at least {one.least:g}"
    return words


@dataclass(frozen=True)
class Step:
    """A step as a user chose it. JSON: {"step": kind, "of": array name, **params}."""

    kind: str
    """The id of a `StepKind`: scale, standardize, transpose, one_hot, resize, pad, cast, …"""
    of: str
    """The array it changes: "x", "y", or an array's own name."""
    params: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As in a job's parameters and in the address."""
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in self.params.items()}
        return {"step": self.kind, "of": self.of, **listed}


class StepKind(ABC):
    """One kind of step; one file in `stethoscope/data/preprocessing/` each, its `STEP`.

    What it does to a row depends on that row and the parameters alone: data is prepared in parts.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    """For people: "Scale"."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in their own types, defaults filled in.

        Raises:
            BadSetting: a parameter is missing, unknown or makes no sense.
        """
        return checked(self.id, self.parameters, params)

    @abstractmethod
    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the changed rows (leading dimension: rows); the given array stays as it is.

        Raises:
            BadInput: the array cannot be changed so (wrong rank, text, …); says what it expected.
        """

    @abstractmethod
    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Python (numpy, or keras where numpy has no such thing) that does the same to the variable `name`."""

    @abstractmethod
    def words(self, params: Mapping[str, Any]) -> str:
        """What it does in a few words: "÷255", "resize to 224×224"."""


def numbers(rows: npt.NDArray[Any], advice: str = "Turn labels of text into numbers with To class numbers.") -> None:
    """Raises BadInput for text, dates and the like."""
    if rows.dtype.kind not in "biuf":
        raise BadInput(f"expected numbers, got {described(rows)}. {advice}")


def rank(rows: npt.NDArray[Any], ranks: tuple[int, ...], what: str) -> None:
    """Raises BadInput unless an array (rows included) has one of `ranks` dimensions."""
    if rows.ndim not in ranks:
        raise BadInput(f"expected {what}, got {described(rows)}. Remove the step or choose another array.")


def channels(rows: npt.NDArray[Any], axis: int, allowed: tuple[int, ...]) -> None:
    """Raises BadInput unless `axis` has one of the `allowed` sizes."""
    sizes = " or ".join(str(size) for size in allowed)
    if not -rows.ndim <= axis < rows.ndim or axis % rows.ndim == 0 or rows.shape[axis] not in allowed:
        raise BadInput(f"expected {sizes} channels in axis {axis}, got {described(rows)}. Choose another axis.")


def described(rows: npt.NDArray[Any]) -> str:
    """An array in words: the shape of a row and the dtype."""
    kind = "text" if rows.dtype.kind in "US" else str(rows.dtype)
    return f"rows of shape {rows.shape[1:]} of {kind}" if rows.ndim else f"one value of {kind}"
