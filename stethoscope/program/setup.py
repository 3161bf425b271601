"""Everything one training consists of, as plain values: what fixes change and what the loop runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy.typing as npt

from stethoscope.types import Feed


@dataclass(frozen=True)
class Setup:
    """One training: model, compile settings, data and fit call. Never changed in place; fixes return changed copies."""

    config: dict[str, Any] | None
    """The model as Keras serialises it: {"class_name", "config", …}. None for a subclassed model that cannot be rebuilt from a config."""
    modern: bool
    """Keras 3 (True) or tf_keras (False)."""
    weights: tuple[npt.NDArray[Any], ...] | None
    """The file's weights, layer by layer; used where a layer's shapes still fit. None: new initial weights everywhere."""
    weight_layers: tuple[str, ...] = ()
    """For each of `weights`, the top-level layer that owns it. A layer that is not in it gets new initial weights."""
    from_file: bool = True
    """Whether the first seed starts from `weights`; other seeds never do, except in the layers of `keep_weights`."""
    keep_weights: frozenset[str] = frozenset()
    """Layers (by top-level name) whose weights are always taken from the file: frozen, pretrained parts."""
    losses: tuple[Any, ...] = ()
    """One per output: a name, or Keras' serialised loss {"class_name", "config"}; None for an output that is not trained."""
    loss_weights: tuple[float, ...] = ()
    """One per output; empty: all 1."""
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    """{"class_name", "config"} with "learning_rate" in the config."""
    x: Feed = field(default_factory=dict)
    """Training inputs by input name, first axis rows."""
    y: tuple[npt.NDArray[Any], ...] = ()
    """Training targets, one per output, in the model's order."""
    x_val: Feed = field(default_factory=dict)
    y_val: tuple[npt.NDArray[Any], ...] = ()
    batch_size: int = 32
    epochs: float = 1
    shuffle: bool = True
    class_weight: Mapping[int, float] | None = None
    sample_weight: npt.NDArray[Any] | None = None
    """One number per training row, as given to `fit`."""
    decode_targets: tuple[float, float] | None = None
    """(mean, std) by which regression targets were standardised: scores are computed after undoing it."""
    outputs: tuple[str, ...] = ()
    """Names of the model's outputs, in the order of `y` and `losses`."""
    live: Any = field(default=None, compare=False, repr=False)
    """The loaded model itself, as long as `config` has not been changed; lives in a worker only."""

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced. A changed `config` lets go of the loaded model."""
        if "config" in changes and "live" not in changes:
            changes["live"] = None
        return replace(self, **changes)

    def without_weights(self, layers: Collection[str]) -> Self:
        """A copy in which these top-level layers start from new initial weights."""
        kept = [place for place, name in enumerate(self.weight_layers) if name not in layers]
        return replace(
            self,
            weights=None if self.weights is None else tuple(self.weights[place] for place in kept),
            weight_layers=tuple(self.weight_layers[place] for place in kept),
            keep_weights=self.keep_weights - frozenset(layers),
        )

    @property
    def rows(self) -> int:
        """Training rows."""
        return int(next(iter(self.x.values())).shape[0]) if self.x else 0

    @property
    def learning_rate(self) -> float | None:
        """The optimizer's constant rate; None for a schedule."""
        value = dict(self.optimizer.get("config", {})).get("learning_rate")
        return float(value) if isinstance(value, int | float) else None
