"""Another shape of each row: 784 values to 28 × 28 × 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


class Reshape(StepKind):
    """Another shape of each row: 784 values to 28 × 28 × 1.

    Each row's values in the same order, in another shape; −1 once for what is left.
    """

    id = "reshape"
    title = "Reshape"
    parameters = (Parameter("shape", "Shape of a row", "counts", least=-1, most=1 << 40, help="28, 28, 1"),)

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: −1 at most once, no 0, a sensible number of axes."""
        found = super().checked(params)
        shape = found["shape"]
        if shape.count(-1) > 1 or 0 in shape or len(shape) > 8:
            raise BadSetting(f"Step reshape: expected sizes above 0, with -1 at most once, got {list(shape)[:9]}.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the rows in the new shape.

        Raises:
            BadInput: a row holds another number of values.
        """
        shape = params["shape"]
        values, wanted = math.prod(rows.shape[1:]), math.prod(size for size in shape if size != -1)
        if values != wanted and (-1 not in shape or values % wanted):
            raise BadInput(f"expected {wanted:,} values in a row for {tuple(shape)}, got {parameter.described(rows)}.")
        return rows.reshape(len(rows), *(values // wanted if size == -1 else size for size in shape))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's reshape."""
        return f"{name} = np.reshape({name}, (len({name}), {', '.join(map(str, params['shape']))}))"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "reshape to 28×28×1"."""
        return f"reshape to {'×'.join(map(str, params['shape']))}"


STEP = Reshape()
