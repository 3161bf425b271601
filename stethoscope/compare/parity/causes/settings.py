"""A setting that the two files give differently: what it does is known by its name.

Source: the two files.
"""

from __future__ import annotations

from stethoscope.architecture.activations import LINEAR, plain_type
from stethoscope.architecture.layer_kinds import names_activation
from stethoscope.compare.parity.causes.case import Case, Cause, Guess

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
        """Sure where one setting that changes values differs."""
        for change in case.settings:
            if any(word in change.field.lower() for word in _SAYS_NOTHING):
                continue
            cause, title = next(
                ((cause, title) for word, cause, title in _MEANS if word in change.field.lower()),
                ("setting", "another setting"),
            )
            if change.field == "type":
                cause, title = _by_types(str(change.a), str(change.b))
            kind = next((layer.type for layer in case.group if layer.path == change.layer), case.layer.type)
            return Guess(
                cause,
                f"{title[:1].upper()}{title[1:]} ({kind})",
                f"{kind} {change.layer!r} has {change.field} {_short(change.a)} in the first model and {_short(change.b)} in the second model.",
                0.95 if change.field == "type" else 0.97,
                change.layer,
                f"Give both the same {change.field}, and export again.",
            )
        return None


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
