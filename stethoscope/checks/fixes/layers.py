"""Fixes of which layers there are and where, of activations, and of an output: its units, loss and first answer.

Fixes of activations, and of an output: its units, loss and first answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR, RELU
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import (
    comment,
    compile_line,
    last_name,
    layer_line,
    listed,
    literal,
    located,
    number,
)

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


@dataclass(frozen=True)
class ReplaceActivation(Fix):
    """Gives the layer at `layer` the activation `activation`. `was`, `layer_type`, `units`, `settings` only serve the printed code."""

    layer: str = ""
    activation: str = LINEAR.name
    was: str = ""
    layer_type: str = ""
    units: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The layer's config, where it is known: then its other settings are kept in the printed line."""

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was else ""
        return f"Give {self.layer} the activation {self.activation}{before}"

    def code(self) -> str:
        """The layer's new line."""
        where = comment(f"in the model, in place of {self.layer}")
        if self.layer_type in ACTIVATION_LAYERS:
            line: str | None = layer_line("Activation", self.layer, {"activation": self.activation})
        else:
            known = {"units": self.units} if self.units is not None and self.layer_type == "Dense" else {}
            line = layer_line(self.layer_type, self.layer, {**known, **self.settings, "activation": self.activation})
            if not self.settings and self.layer_type != "Dense":
                line = None
        if line is not None:
            return f"{where}\n{line}"
        where = comment("after the model is built, before model.compile")
        activation = literal(self.activation)
        return f"{where}\n{located(self.layer)}.activation = keras.activations.get({activation})"

    def apply(self, setup: Setup) -> Setup:
        """A copy in which the layer's configuration names the new activation."""
        from stethoscope.program.model_config import with_activation

        return with_activation(setup, self.layer, self.activation)


_LABELS = {
    "sparse_categorical_crossentropy": (
        "the labels as class numbers from 0",
        "y = np.unique(y, return_inverse=True)[1].reshape(-1) if y.ndim == 1 or y.shape[-1] == 1 else y.argmax(axis=-1)",
    ),
    "categorical_crossentropy": (
        "the labels as one column for each class",
        "y = keras.utils.to_categorical(y, {units}) if y.ndim == 1 or y.shape[-1] == 1 else y",
    ),
    "binary_crossentropy": (
        "the labels as 0 and 1 in one column",
        'y = (y.argmax(axis=-1) if y.ndim > 1 and y.shape[-1] == 2 else y == y.max()).astype("float32").reshape(-1, 1)',
    ),
}


@dataclass(frozen=True)
class ReplaceHead(Fix):
    """Gives the output's last layer with units, `layer`, `units` and `activation`, and trains it with `loss`; labels follow the loss."""

    layer: str = ""
    units: int = 1
    activation: str = LINEAR.name
    loss: str = "mean_squared_error"
    was: str = ""
    output: str = ""
    layer_type: str = "Dense"

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was else ""
        unit = "unit" if self.units == 1 else "units"
        return f"Give {self.layer} {self.units} {unit} with {self.activation}, and compile with {self.loss}{before}"

    def code(self) -> str:
        """The last layer, the labels it needs, and the compile line."""
        kind = "Dense" if self.layer_type in ("", *ACTIVATION_LAYERS) else self.layer_type
        settings = {"units": self.units, "activation": self.activation}
        line = layer_line("Dense", self.layer, settings) if kind == "Dense" else None
        if line is None:
            line = f"layers.Dense({self.units}, activation={literal(self.activation)}, name={literal(last_name(self.layer))})"
        lines = [comment(f"the model's last layer, in place of {self.layer}"), line]
        labels = _LABELS.get(self.loss)
        if labels is not None and (self.loss != "binary_crossentropy" or self.units == 1):
            lines += [comment(labels[0]), labels[1].format(units=self.units)]
        return "\n".join([*lines, compile_line(loss=literal(self.loss), output=self.output, loss_name=self.loss)])

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new head, the loss, and labels in the encoding that it reads."""
        from stethoscope.program.model_config import with_head
        from stethoscope.program.target_encoding import with_loss

        changed = with_head(setup, self.layer, self.units, self.activation)
        return with_loss(changed, self.output, self.loss, False, units=self.units)


@dataclass(frozen=True)
class SetOutputBias(Fix):
    """Starts the bias of `layer` at `values`: the log odds of the classes, or the targets' mean."""

    layer: str = ""
    values: tuple[float, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        shown = listed([number(value) for value in self.values])
        return f"Start the bias of {self.layer} at {shown}"

    def code(self) -> str:
        """The line that sets the bias."""
        where = comment("after the model is built, before model.fit")
        values = ", ".join(number(value) for value in self.values)
        return f"{where}\n{located(self.layer)}.bias.assign([{values}])"

    def apply(self, setup: Setup) -> Setup:
        """A copy whose layer starts from this bias."""
        from stethoscope.program.model_config import with_bias_start

        return with_bias_start(setup, self.layer, self.values)


FIXES = (
    AddFlatten,
    AddHiddenLayer,
    AddNormalisation,
    MoveDropout,
    RemoveLayer,
    ReplaceActivation,
    ReplaceHead,
    SetOutputBias,
)
