"""Steps that bring numbers into another range: scaled, standardised, held between bounds.

Steps that write numbers in another type: another dtype, the whole numbers of a quantised model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

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


class Clip(StepKind):
    """Values held between two bounds.

    Smaller values become the least, larger ones the most; NaN stays.
    """

    id = "clip"
    title = "Clip"
    parameters = (Parameter("least", "Least", "number", 0.0), Parameter("most", "Most", "number", 1.0))

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: the least is not above the most."""
        found = super().checked(params)
        if found["least"] > found["most"]:
            raise BadSetting(f"Step clip: expected least up to most, got {found['least']} and {found['most']}.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns values within the bounds, in the same dtype.

        Raises:
            BadInput: text, or whole numbers with a fraction as a bound.
        """
        parameter.numbers(rows)
        least, most = params["least"], params["most"]
        if rows.dtype.kind in "iub":
            if rows.dtype.kind == "b" or least != int(least) or most != int(most):
                raise BadInput(
                    f"expected whole bounds for {rows.dtype}, got {least:g} and {most:g}. Cast to float32 first."
                )
            import numpy as np

            bounds = np.iinfo(rows.dtype)
            least, most = (min(max(int(value), bounds.min), bounds.max) for value in (least, most))
        return rows.clip(least, most)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's clip."""
        bounds = [int(value) if value == int(value) else value for value in (params["least"], params["most"])]
        return f"{name} = np.clip({name}, {bounds[0]!r}, {bounds[1]!r})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "clip to 0 … 1"."""
        return f"clip to {params['least']:g} … {params['most']:g}"


class Standardize(StepKind):
    """Subtract a mean and divide by a deviation, one for all values or one per channel or column.

    (value − mean) / std; a std of 0 (a constant column) divides by 1, as scikit-learn's StandardScaler.

    The numbers are stored, measured once on this data: every row predicted later gets the same change.
    """

    id = "standardize"
    title = "Standardize"
    parameters = (
        Parameter("mean", "Mean", "numbers"),
        Parameter("std", "Standard deviation", "numbers", least=0.0),
        Parameter("axis", "Axis of channels or columns", "count", -1, least=-8, most=8),
    )

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: as many deviations as means, and an axis that is not the rows'."""
        found = super().checked(params)
        if len(found["mean"]) != len(found["std"]):
            raise BadSetting(
                f"Step standardize: expected as many std as mean, got {len(found['std'])} and {len(found['mean'])}. "
                "Give one number for all, or one per channel."
            )
        if found["axis"] == 0:
            raise BadSetting("Step standardize: expected an axis other than 0, which counts rows. Use -1 for the last.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns (rows − mean) / std as float32 (float64 stays)."""
        import numpy as np

        parameter.numbers(rows)
        made: Any = rows.astype("float64" if rows.dtype == "float64" else "float32")
        mean, std = (np.asarray(params[key], made.dtype) for key in ("mean", "std"))
        std[std == 0] = 1
        if len(mean) == 1:
            return np.asarray((made - mean[0]) / std[0])
        axis = params["axis"]
        if not -rows.ndim <= axis < rows.ndim or axis % rows.ndim == 0 or rows.shape[axis] != len(mean):
            raise BadInput(
                f"expected {len(mean)} values in axis {axis}, got {parameter.described(rows)}. Measure mean and std again."
            )
        shape = [1] * rows.ndim
        shape[axis] = len(mean)
        return np.asarray((made - mean.reshape(shape)) / std.reshape(shape))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """The numbers, then the formula."""
        mean, std = list(params["mean"]), [value or 1.0 for value in params["std"]]
        dtype = f'{name} = np.asarray({name})\n{name} = {name}.astype("float64" if {name}.dtype == "float64" else "float32")\n'
        if len(mean) == 1:
            return f"{dtype}{name} = ({name} - {mean[0]!r}) / {std[0]!r}"
        arrays = f"mean = np.array({mean!r}, {name}.dtype)\nstd = np.array({std!r}, {name}.dtype)\n"
        if params["axis"] == -1:
            return f"{dtype}{arrays}{name} = ({name} - mean) / std"
        return (
            f"{dtype}{arrays}shape = [1] * {name}.ndim\nshape[{params['axis']}] = len(mean)\n"
            f"{name} = ({name} - mean.reshape(shape)) / std.reshape(shape)"
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "standardize (mean 121, std 64)"."""
        mean, std = params["mean"], params["std"]
        if len(mean) == 1:
            return f"standardize (mean {mean[0]:.3g}, std {std[0]:.3g})"
        return f"standardize {len(mean)} columns" if len(mean) > 4 else f"standardize {len(mean)} channels"


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


STEPS = (Scale(), Clip(), Standardize(), Cast(), Quantise())
