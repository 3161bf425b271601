"""Multiply by a factor and add an offset: pixels from 0 … 255 to 0 … 1 or −1 … 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind

if TYPE_CHECKING:
    import numpy.typing as npt


class Scale(StepKind):
    """Multiply by a factor and add an offset: pixels from 0 … 255 to 0 … 1 or −1 … 1.

    value · factor + offset, as `keras.layers.Rescaling`; the result is float32 (float64 stays).
    """

    id = "scale"
    title = "Scale"
    parameters = (Parameter("factor", "Multiply by", "number"), Parameter("offset", "then add", "number", 0.0))

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns rows · factor + offset."""
        parameter.numbers(rows)
        made: npt.NDArray[Any] = rows.astype("float64" if rows.dtype == "float64" else "float32") * params["factor"]
        if params["offset"]:
            made += made.dtype.type(params["offset"])
        return made

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """`x = x * (1 / 255)`."""
        offset = f" + {params['offset']!r}" if params["offset"] else ""
        return (
            f"{name} = np.asarray({name})\n"
            f'{name} = {name}.astype("float64" if {name}.dtype == "float64" else "float32") * {_factor(params)}{offset}'
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "÷255", "÷127.5 − 1"."""
        divisor = _divisor(params["factor"])
        made = f"÷{divisor:g}" if divisor else f"×{params['factor']:.4g}"
        offset = params["offset"]
        return made if not offset else f"{made} {'−' if offset < 0 else '+'} {abs(offset):.4g}"


def _divisor(factor: float) -> float:
    """What to divide by where that is the plainer number; 0 where it is not."""
    if not 0 < factor < 1:
        return 0.0
    divisor = round(1 / factor, 3)
    return divisor if divisor > 1 and abs(1 / divisor - factor) <= 1e-12 * factor else 0.0


def _factor(params: Mapping[str, Any]) -> str:
    divisor = _divisor(params["factor"])
    plain = f"{divisor:.10g}"
    return f"(1 / {plain})" if divisor and 1 / float(plain) == params["factor"] else repr(params["factor"])


STEP = Scale()
