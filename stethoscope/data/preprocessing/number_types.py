"""Steps that write numbers in another type: another dtype, the whole numbers of a quantised model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt


DTYPES = (
    "float32",
    "float64",
    "float16",
    "int32",
    "int64",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)


class Cast(StepKind):
    """Another dtype.

    numpy's astype; a fraction loses what is behind the point, and a value outside the new dtype is an error.
    """

    id = "cast"
    title = "Cast"
    parameters = (Parameter("dtype", "To", "choice", "float32", choices=DTYPES),)

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the same values in another dtype.

        Raises:
            BadInput: text, or a value that the dtype cannot hold.
        """
        import numpy as np

        parameter.numbers(rows)
        dtype = np.dtype(params["dtype"])
        if dtype.kind in "iu" and rows.size and rows.dtype.kind in "iuf":
            bounds = np.iinfo(dtype)
            low, high = rows.min(), rows.max()
            if not (np.isfinite(low) and np.isfinite(high) and int(low) >= bounds.min and int(high) <= bounds.max):
                raise BadInput(
                    f"expected values from {bounds.min} to {bounds.max} for {dtype}, got {low} to {high}. Scale or fill them first."
                )
        return rows.astype(dtype)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's astype."""
        return f"{name} = np.asarray({name}).astype({params['dtype']!r})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "to float32"."""
        return f"to {params['dtype']}"


class Quantise(StepKind):
    """Real numbers to the whole numbers a quantised model takes.

    round(value / scale) + zero point, held within the dtype.

    Source: ai.google.dev/edge/litert/models/quantization_spec (real = (q − zero_point) · scale).
    """

    id = "quantise"
    title = "Quantise"
    parameters = (
        Parameter("scale", "Scale", "number", least=1e-30),
        Parameter("zero_point", "Zero point", "count", 0, least=-32768, most=32767),
        Parameter("dtype", "To", "choice", "int8", choices=("int8", "uint8", "int16")),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns whole numbers of the dtype."""
        import numpy as np

        parameter.numbers(rows)
        bounds = np.iinfo(params["dtype"])
        made = np.round(rows.astype("float32") / params["scale"]) + params["zero_point"]
        quantised: npt.NDArray[Any] = made.clip(bounds.min, bounds.max).astype(params["dtype"])
        return quantised

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy, in two lines."""
        dtype = params["dtype"]
        return (
            f'{name} = np.round(np.asarray({name}, "float32") / {params["scale"]!r}) + {params["zero_point"]}\n'
            f'{name} = {name}.clip(np.iinfo("{dtype}").min, np.iinfo("{dtype}").max).astype("{dtype}")'
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "quantise to int8"."""
        return f"quantise to {params['dtype']}"


STEPS = (Cast(), Quantise())
