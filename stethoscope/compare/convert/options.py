"""What can be chosen about a conversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from stethoscope.errors import BadSetting

OPSETS = tuple(range(13, 19))
"""ONNX operator sets that can be written: tf2onnx 1.17 ends at 18, and 13 is what old runtimes have."""
DEFAULT_OPSET = 18


@dataclass(frozen=True)
class Options:
    """Settings of a conversion; each counts only where the target has it."""

    opset: int = DEFAULT_OPSET
    """ONNX."""
    batch_size: int | None = None
    """Rows in every call, None to leave them open."""
    integer_ends: bool = False
    """Full int8: inputs and outputs are integers too, for accelerators without floats."""
    allow_float: bool = False
    """Full int8: TensorFlow's converter is told that float operators are welcome; it leaves some in float without that, too."""
    calibration_rows: int = 100
    """Rows of the data by which ranges are found."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Reads `to_json`'s form; what is left out has its default.

        Raises:
            BadSetting: an unknown name, or a value that makes no sense.
        """
        unknown = sorted(set(value) - set(cls.__dataclass_fields__))
        if unknown:
            raise BadSetting(
                f"Conversion: there is no option {unknown[0]!r}. Choose of {', '.join(cls.__dataclass_fields__)}."
            )
        made = cls(**value)
        if made.opset not in OPSETS:
            raise BadSetting(f"Opset {made.opset!r}: expected {OPSETS[0]} to {OPSETS[-1]}.")
        for name in ("batch_size", "calibration_rows"):
            found = getattr(made, name)
            if not (found is None and name == "batch_size") and not (type(found) is int and 1 <= found <= 100_000):
                raise BadSetting(f"{name}: expected a whole number from 1 to 100,000, got {found!r}.")
        for name in ("integer_ends", "allow_float"):
            if not isinstance(getattr(made, name), bool):
                raise BadSetting(f"{name}: expected true or false, got {getattr(made, name)!r}.")
        return made

    def to_json(self) -> dict[str, Any]:
        """JSON values by name."""
        return asdict(self)
