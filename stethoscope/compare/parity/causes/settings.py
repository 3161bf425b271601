"""A setting that the two files give differently: what it does is known by its name.

Source: the two files.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.architecture.activations import LINEAR, plain_type
from stethoscope.architecture.layer_kinds import names_activation
from stethoscope.compare.parity.causes.case import Case, Cause, Guess, SettingChange
from stethoscope.compare.parity.causes.chain import Chain
from stethoscope.compare.parity.kernel_suspicions import Suspicion

_MEANS: tuple[tuple[str, str, str], ...] = (
    ("epsilon", "epsilon", "another epsilon"),
    ("approximate", "gelu-form", "another form of GELU"),
    ("activation", "activation", "another activation"),
    ("negative_slope", "activation", "another slope of the activation"),
    ("alpha", "activation", "another slope of the activation"),
    ("interpolation", "resize-mode", "another way of resizing"),
    ("half_pixel", "resize-mode", "another way of resizing"),
    ("align_corners", "resize-mode", "another way of resizing"),
    ("coordinate_transformation", "resize-mode", "another way of resizing"),
    ("nearest_mode", "resize-mode", "another way of resizing"),
    ("cubic", "resize-mode", "another way of resizing"),
    ("pad", "padding", "another padding"),
    ("count_include_pad", "padding", "padding counted or not"),
    ("crop", "padding", "another cropping"),
    ("stride", "strides", "other strides"),
    ("dilation", "dilation", "another dilation"),
    ("pool_size", "pooling", "another pool size"),
    ("kernel_shape", "kernel-size", "another kernel size"),
    ("data_format", "layout", "another order of axes"),
    ("axis", "axis", "another axis"),
    ("perm", "layout", "another order of axes"),
    ("use_bias", "bias", "with or without bias"),
    ("scale", "scale", "another scale"),
    ("offset", "scale", "another offset"),
    ("rate", "training-mode", "another rate of dropout"),
    ("training", "training-mode", "training mode"),
    ("go_backwards", "direction", "another direction"),
    ("reset_after", "gate-order", "another form of the gate"),
    ("dtype", "precision", "another precision"),
    ("inputs", "wiring", "other inputs"),
    ("quantization", "clipped-range", "another range of quantisation"),
)
_FAMILIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("pooling", "another kind of pooling", ("mean", "max", "average", "pool")),
    ("resize-mode", "another way of resizing", ("resize", "upsampl")),
)
_SAYS_NOTHING = (
    "momentum",
    "name",
    "trainable",
    "initializer",
    "regularizer",
    "constraint",
    "renorm",
    "seed",
    "synchronized",
    "build",
)


class Settings(Cause):
    """See the module's docstring."""

    id = "settings"
    title = "A setting differs"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where the layer, computed here with all settings of the other file, gives what the other model answers."""
        told = [one for one in case.settings if not any(word in one.field.lower() for word in _SAYS_NOTHING)]
        if not told:
            return None
        change = told[0]
        all_of_it = [one for one in told if one.layer == change.layer]
        cause, title = next(
            ((cause, title) for word, cause, title in _MEANS if word in change.field.lower()),
            ("setting", "another setting"),
        )
        if change.field == "type":
            cause, title = _by_types(str(change.a), str(change.b))
        kind = next((layer.type for layer in case.group if layer.path == change.layer), case.layer.type)
        differ = " and ".join(
            f"{one.field} {_short(one.a)} in the first model and {_short(one.b)} in the second model"
            for one in all_of_it[:_MOST_TOLD]
        )
        left = _left(case, all_of_it)
        mended = (
            "" if left is None else f" With the second model's it gives what the second model answers ({1 - left:.1%})."
        )
        return Guess(
            cause,
            f"{title[:1].upper()}{title[1:]} ({kind})",
            f"{kind} {change.layer!r} has {differ}.{mended if left is not None and left < _MENDED else ''}",
            _confidence(change, left),
            change.layer,
            f"Give both the same {' and '.join(dict.fromkeys(one.field for one in all_of_it[:_MOST_TOLD]))}, and export again.",
        )


_MENDED, _MOST_TOLD = 0.02, 3


def _confidence(change: SettingChange, left: float | None) -> float:
    """As sure as trying makes it; without, as both files say it."""
    if left is not None:
        return 0.98 if left < _MENDED else max(0.2, 0.6 * (1 - left))
    return 0.94 if change.field == "type" else 0.95


def _left(case: Case, changes: Sequence[SettingChange]) -> float | None:
    """The share of the difference that is left with the other file's settings; None where that cannot be computed here."""
    chain = Chain.of(case)
    layer = next((one for one in case.group if one.path == changes[0].layer), None)
    if (
        chain is None
        or layer is None
        or any(one.field not in layer.config for one in changes)
        or not chain.is_known(layer)
    ):
        return None
    theirs = {one.name.rsplit("/", 1)[-1].split(":")[0]: one.b for one in case.weights if one.layer == layer.path}
    weights = {name: np.asarray(b, np.float64) for name, b in theirs.items() if b is not None and b.dtype.kind in "fiu"}
    return chain.left(layer, Suspicion("", "", "", "", {one.field: one.b for one in changes}, weights))


def _by_types(a: str, b: str) -> tuple[str, str]:
    """(cause, title) of two layers of other types in the same place."""
    for cause, title, words in _FAMILIES:
        if all(any(word in kind.lower() for word in words) for kind in (a, b)):
            return cause, title
    if all(_is_activation(kind) for kind in (a, b)):
        return "activation", "another activation"
    return "setting", "another kind of layer"


def _is_activation(kind: str) -> bool:
    return names_activation(kind) or any(word in plain_type(kind) for word in ("identity", LINEAR.name, "clip"))


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


CAUSE = Settings()
