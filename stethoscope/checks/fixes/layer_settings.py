"""Fixes of settings of layers: initialiser, dropout, padding, bias, vocabulary, input shape, frozen or not.

Keeps a model from learning its training rows by heart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, listed, literal, located, number, rebuilt

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetInitialiser(Fix):
    """Gives `layers` the kernel and bias initialisers named."""

    layers: tuple[str, ...] = ()
    kernel: str = "glorot_uniform"
    bias: str = "zeros"

    @property
    def summary(self) -> str:
        """One line."""
        return f"Start {listed(self.layers)} from {self.kernel} weights and {self.bias} biases"

    def code(self) -> str:
        """The model made anew with other initialisers."""
        changes = {"kernel_initializer": literal(self.kernel), "bias_initializer": literal(self.bias)}
        return rebuilt(self.layers, changes)

    def apply(self, setup: Setup) -> Setup:
        """A copy whose layers draw new weights by these initialisers."""
        from stethoscope.program.model_config import with_initialisers

        return with_initialisers(setup, self.layers, self.kernel, self.bias)


@dataclass(frozen=True)
class SetDropoutRate(Fix):
    """Gives the dropout layers `layers` the rate `rate`."""

    layers: tuple[str, ...] = ()
    rate: float = 0.2
    was: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {number(self.was)}" if self.was is not None else ""
        return f"Give {listed(self.layers)} the rate {number(self.rate)}{before}"

    def code(self) -> str:
        """One line for each layer."""
        where = comment("in the model")
        return "\n".join(
            [where, *(f"layers.Dropout({number(self.rate)}, name={literal(last_name(path))})" for path in self.layers)]
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy with this rate."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, rate=self.rate)


@dataclass(frozen=True)
class SetPadding(Fix):
    """Gives `layers` the padding "same" (or another one)."""

    layers: tuple[str, ...] = ()
    padding: str = "same"

    @property
    def summary(self) -> str:
        """One line."""
        return f'Give {listed(self.layers)} padding="{self.padding}"'

    def code(self) -> str:
        """The model made anew with this padding."""
        return rebuilt(self.layers, {"padding": literal(self.padding)})

    def apply(self, setup: Setup) -> Setup:
        """A copy with this padding."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, padding=self.padding)


@dataclass(frozen=True)
class RemoveBias(Fix):
    """Gives `layers` use_bias=False."""

    layers: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Give {listed(self.layers)} use_bias=False"

    def code(self) -> str:
        """The model made anew without these biases."""
        return rebuilt(self.layers, {"use_bias": "False"})

    def apply(self, setup: Setup) -> Setup:
        """A copy without these biases."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, use_bias=False)


@dataclass(frozen=True)
class SetVocabulary(Fix):
    """Gives the Embedding `layer` room for `size` tokens."""

    layer: str = ""
    size: int = 1
    was: int | None = None
    output_dim: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Give {self.layer} room for {self.size} tokens{before}"

    def code(self) -> str:
        """The layer's new line."""
        if self.output_dim is None:
            return rebuilt((self.layer,), {"input_dim": str(self.size)})
        where = comment(f"in the model, in place of {self.layer}")
        return f"{where}\nlayers.Embedding({self.size}, {self.output_dim}, name={literal(last_name(self.layer))})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the larger embedding."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, (self.layer,), input_dim=self.size)


@dataclass(frozen=True)
class SetInputShape(Fix):
    """Declares `shape` (without rows; None is any size) for `input`."""

    input: str = ""
    shape: tuple[int | None, ...] = ()
    was: tuple[int | None, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {literal(self.was)}" if self.was else ""
        name = f"input {self.input}" if self.input else "input"
        return f"Declare the {name} with the shape {literal(self.shape)}{before}"

    def code(self) -> str:
        """The input's line."""
        name = f", name={literal(self.input)}" if self.input else ""
        return f"{comment('the first line of the model')}\nlayers.Input(shape={literal(self.shape)}{name})"

    def apply(self, setup: Setup) -> Setup:
        """A copy that declares this shape."""
        from stethoscope.program.model_config import with_input_shape

        return with_input_shape(setup, self.input, self.shape)


@dataclass(frozen=True)
class Unfreeze(Fix):
    """Makes `layers` trainable."""

    layers: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Make {listed(self.layers)} trainable"

    def code(self) -> str:
        """One line for each layer."""
        where = comment("before model.compile: what is trainable is fixed there")
        return "\n".join([where, *(f"{located(path)}.trainable = True" for path in self.layers)])

    def apply(self, setup: Setup) -> Setup:
        """A copy in which these layers, and the models around them, are trainable."""
        from stethoscope.program.model_config import unfrozen

        return unfrozen(setup, self.layers)


@dataclass(frozen=True)
class AddRegularisation(Fix):
    """Adds `kind` of regularisation: dropout of `rate` before the last layer with weights, or an L2 penalty of `rate` on every kernel."""

    method: Literal["dropout", "l2"] = "dropout"
    rate: float = 0.3
    before: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        if self.method == "l2":
            return f"Add an L2 penalty of {number(self.rate)} to the kernels"
        return f"Add a dropout of {number(self.rate)} before {self.before or 'the last layer'}"

    def code(self) -> str:
        """The new line."""
        if self.method == "l2":
            return "\n".join(
                [
                    comment("in every Dense and convolution layer"),
                    f"kernel_regularizer = keras.regularizers.L2({number(self.rate)})",
                ]
            )
        where = comment(f"in the model, the line before {self.before or 'the last layer'}")
        return f"{where}\nlayers.Dropout({number(self.rate)})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the regularisation."""
        from stethoscope.program.model_config import with_kernel_penalty
        from stethoscope.program.model_graph import last_with_weights, with_layer

        if self.method == "l2":
            return with_kernel_penalty(setup, self.rate)
        before = self.before or last_with_weights(setup)
        return with_layer(setup, "Dropout", {"rate": self.rate}, before=before)


FIXES = (
    SetInitialiser,
    SetDropoutRate,
    SetPadding,
    RemoveBias,
    SetVocabulary,
    SetInputShape,
    Unfreeze,
    AddRegularisation,
)
