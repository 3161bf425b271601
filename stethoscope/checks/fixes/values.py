"""Fixes of the values that are trained on: inputs and targets on a scale that networks learn from; targets in the encoding and the shape that output and loss take, rare classes weighed.

Brings regression targets to a scale that networks learn.

Fixes of targets: in the encoding and the shape that output and loss take, and rare classes weighed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, compile_line, fit_line, listed, literal, number
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


_STANDARDISE = ("mean, std = x.mean(axis=0), x.std(axis=0)", "x = (x - mean) / np.where(std > 0, std, 1)")
_MINMAX = (
    "lowest, highest = x.min(axis=0), x.max(axis=0)",
    "x = (x - lowest) / np.where(highest > lowest, highest - lowest, 1)",
)


@dataclass(frozen=True)
class ScaleInputs(Fix):
    """Scales `input` (all when empty). Statistics are those of the training rows; `was_minimum`, `was_maximum` serve the text."""

    input: str = ""
    method: Literal["standardise", "minmax", "divide"] = "standardise"
    divisor: float | None = None
    was_minimum: float | None = None
    was_maximum: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        known = self.was_minimum is not None and self.was_maximum is not None
        span = f" (now {number(self.was_minimum or 0)} … {number(self.was_maximum or 0)})" if known else ""
        name = f"input {self.input}" if self.input else "inputs"
        if self.method == "divide":
            return f"Divide the {name} by {number(self.divisor or 255)}{span}"
        if self.method == "minmax":
            return f"Scale the {name} to 0 … 1{span}"
        return f"Scale the {name} to mean 0 and standard deviation 1{span}"

    def code(self) -> str:
        """The lines that scale, before fit."""
        what = f" (x: the input {self.input})" if self.input else ""
        lines = [comment(f"before model.fit{what}; do the same with every row predicted later")]
        if self.method == "divide":
            return "\n".join([*lines, f'x = x.astype("float32") / {number(self.divisor or 255)}'])
        if self.method == "minmax":
            return "\n".join([*lines, *_MINMAX])
        return "\n".join([*lines, *_STANDARDISE])

    def apply(self, setup: Setup) -> Setup:
        """A copy with scaled rows; validation rows by the training rows' statistics."""
        from stethoscope.program.setup import scaled_inputs

        return scaled_inputs(setup, self.input, self.method, self.divisor)


_TARGETS_STANDARDISE = ("mean, std = y.mean(axis=0), y.std(axis=0)", "y = (y - mean) / np.where(std > 0, std, 1)")
_TARGETS_MINMAX = (
    "lowest, highest = y.min(axis=0), y.max(axis=0)",
    "y = (y - lowest) / np.where(highest > lowest, highest - lowest, 1)",
)
_BACK = {
    "standardise": "predicted = model.predict(x) * std + mean",
    "minmax": "predicted = model.predict(x) * (highest - lowest) + lowest",
}


@dataclass(frozen=True)
class ScaleTargets(Fix):
    """Scales the targets of `output`; predictions are scaled back."""

    output: str = ""
    method: Literal["standardise", "minmax"] = "standardise"

    @property
    def summary(self) -> str:
        """One line."""
        name = f"targets of {self.output}" if self.output else "targets"
        to = "0 … 1" if self.method == "minmax" else "mean 0 and standard deviation 1"
        return f"Scale the {name} to {to}"

    def code(self) -> str:
        """The lines that scale, and the one that undoes it for predictions."""
        what = f" (y: the targets of {self.output})" if self.output else ""
        lines = [comment(f"before model.fit{what}")]
        lines += _TARGETS_MINMAX if self.method == "minmax" else _TARGETS_STANDARDISE
        lines += [comment("after model.predict: back to the original unit"), _BACK[self.method]]
        return "\n".join(lines)

    def apply(self, setup: Setup) -> Setup:
        """A copy with scaled targets and `decode_targets` set."""
        from stethoscope.program.setup import scaled_targets

        return scaled_targets(setup, self.output, self.method)


_SUMMARY = {
    "integer": "Write the {name} as class numbers from 0",
    "one-hot": "Write the {name} as one-hot rows of {columns}",
    "zero-one": "Write the {name} as 0 and 1",
    "zero-based": "Let the {name} start at 0",
    "unscale": "Leave the {name} unscaled: multiply them by {factor}",
}


@dataclass(frozen=True)
class EncodeLabels(Fix):
    """Encodes the labels of `output`.

    "integer": class numbers from 0; "one-hot": a column for each of `classes`; "zero-one": the two values become 0 and 1;
    "zero-based": class numbers that start elsewhere become 0, 1, 2 …; "unscale": labels multiplied by `factor`, to whole
    numbers. `loss`, when given, replaces the loss too.
    """

    output: str = ""
    encoding: Literal["integer", "one-hot", "zero-one", "zero-based", "unscale"] = "integer"
    classes: int | None = None
    factor: float | None = None
    loss: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        name = f"labels of {self.output}" if self.output else "labels"
        text = _SUMMARY[self.encoding].format(
            name=name,
            columns=f"{self.classes} columns" if self.classes else "one column for each class",
            factor=number(self.factor or 1),
        )
        return f"{text}, and compile with {self.loss}" if self.loss else text

    def code(self) -> str:
        """The lines that encode, and the compile line when the loss changes."""
        what = f" (y: the labels of {self.output})" if self.output else ""
        lines = [comment(f"before model.fit{what}"), *self._lines()]
        if self.loss:
            lines.append(compile_line(loss=literal(self.loss), output=self.output, loss_name=self.loss))
        return "\n".join(lines)

    def _lines(self) -> list[str]:
        numbers = ["classes, numbers = np.unique(y, return_inverse=True)"]
        if self.encoding == "integer":
            return ["y = y.argmax(axis=-1) if y.ndim > 1 and y.shape[-1] > 1 else np.unique(y, return_inverse=True)[1]"]
        if self.encoding == "one-hot":
            columns = str(self.classes) if self.classes else "len(classes)"
            return [*numbers, f"y = keras.utils.to_categorical(numbers.reshape(-1), {columns})"]
        if self.encoding == "zero-one":
            return ['y = (y == y.max()).astype("float32")']
        if self.encoding == "zero-based":
            return [*numbers, "y = numbers.reshape(y.shape)"]
        return [f'y = np.rint(y * {number(self.factor or 1)}).astype("int32")']

    def apply(self, setup: Setup) -> Setup:
        """A copy with other labels, and a loss that reads them."""
        from stethoscope.program.target_encoding import with_encoding

        return with_encoding(setup, self.output, self.encoding, self.classes, self.factor, self.loss)


@dataclass(frozen=True)
class ReshapeTargets(Fix):
    """Reshapes the targets of `output` to `shape` per row."""

    output: str = ""
    shape: tuple[int, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        name = f"targets of {self.output}" if self.output else "targets"
        return (
            f"Reshape the {name} to {literal(self.shape)} per row"
            if self.shape
            else f"Give the {name} one number per row"
        )

    def code(self) -> str:
        """The line that reshapes."""
        what = f" (y: the targets of {self.output})" if self.output else ""
        sizes = "".join(f", {size}" for size in self.shape)
        return f"{comment(f'before model.fit{what}')}\ny = y.reshape(len(y){sizes or ','})".replace(
            "(len(y),)", "(len(y))"
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy with reshaped targets."""
        from stethoscope.program.target_encoding import reshaped

        return reshaped(setup, self.output, self.shape)


@dataclass(frozen=True)
class ClassWeights(Fix):
    """Trains with `weights`, one for each class in order."""

    weights: tuple[float, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Weigh the classes by {listed([number(weight) for weight in self.weights], 6)}"

    def code(self) -> str:
        """The new fit line."""
        pairs = ", ".join(f"{index}: {number(weight)}" for index, weight in enumerate(self.weights))
        return fit_line(class_weight="{" + pairs + "}")

    def apply(self, setup: Setup) -> Setup:
        """A copy with class weights."""
        if len(setup.y) > 1:
            raise CannotRun("Class weights: expected a model with one output, got several. Use sample weights instead.")
        return setup.with_changes(class_weight=dict(enumerate(self.weights)))


FIXES = (ScaleInputs, ScaleTargets, EncodeLabels, ReshapeTargets, ClassWeights)
