"""Fixes of which layers there are and where: put in, taken out, moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.architecture.activations import RELU
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, literal, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class AddFlatten(Fix):
    """Puts a Flatten layer before `before`."""

    before: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        return f"Put layers.Flatten() before {self.before}"

    def code(self) -> str:
        """The new line."""
        return f"{comment(f'in the model, the line before {self.before}')}\nlayers.Flatten()"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        return with_layer(setup, "Flatten", {}, before=self.before)


@dataclass(frozen=True)
class AddHiddenLayer(Fix):
    """Adds a Dense layer of `units` before `before`."""

    before: str = ""
    units: int = 32
    activation: str = RELU.name

    @property
    def summary(self) -> str:
        """One line."""
        return f"Add a hidden layer of {self.units} {self.activation} units before {self.before}"

    def code(self) -> str:
        """The new line."""
        where = comment(f"in the model, the line before {self.before}")
        return f"{where}\nlayers.Dense({self.units}, activation={literal(self.activation)})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        return with_layer(setup, "Dense", {"units": self.units, "activation": self.activation}, before=self.before)


@dataclass(frozen=True)
class AddNormalisation(Fix):
    """Adds a normalisation layer after `after`; at the input when empty."""

    after: str = ""
    method: Literal["batch", "layer"] = "batch"

    @property
    def summary(self) -> str:
        """One line."""
        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        return f"Add layers.{name}() {f'after {self.after}' if self.after else 'as the first layer'}"

    def code(self) -> str:
        """The new line."""
        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        where = comment(
            f"in the model, {f'after {self.after}' if self.after else 'as the first layer after the input'}"
        )
        return f"{where}\nlayers.{name}()"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        return with_layer(setup, name, {}, after=self.after)


@dataclass(frozen=True)
class MoveDropout(Fix):
    """Moves the dropout layer `layer` before the layer `before`, or after the layer `after`."""

    layer: str = ""
    before: str = ""
    after: str = ""
    rate: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        return f"Move {self.layer} {f'before {self.before}' if self.before else f'after {self.after}'}"

    def code(self) -> str:
        """The line and where to put it."""
        place = f"before {self.before}" if self.before else f"after {self.after}"
        rate = 0.5 if self.rate is None else self.rate
        where = comment(f"in the model, take this line from where it is and put it {place}")
        return f"{where}\nlayers.Dropout({number(rate)}, name={literal(last_name(self.layer))})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the layer in its new place."""
        from stethoscope.program.model_graph import with_layer_moved

        return with_layer_moved(setup, self.layer, before=self.before, after=self.after)


@dataclass(frozen=True)
class RemoveLayer(Fix):
    """Takes `layer` out of the model; `why` serves the text."""

    layer: str = ""
    why: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        return f"Remove {self.layer}" + (f": {self.why}" if self.why else "")

    def code(self) -> str:
        """A Sequential model without it."""
        name = literal(last_name(self.layer))
        lines = [
            comment(f"in the model, take out the line of {self.layer}; or, for a Sequential model"),
            f"model = keras.Sequential([layer for layer in model.layers if layer.name != {name}])",
        ]
        return "\n".join(lines)

    def apply(self, setup: Setup) -> Setup:
        """A copy without the layer, its neighbours joined."""
        from stethoscope.program.model_graph import without_layer

        return without_layer(setup, self.layer)


FIXES = (AddFlatten, AddHiddenLayer, AddNormalisation, MoveDropout, RemoveLayer)
