"""Fixes of activations, and of an output: its units, loss and first answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR
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


FIXES = (ReplaceActivation, ReplaceHead, SetOutputBias)
