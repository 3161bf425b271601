"""Names of libraries as scripts write them, brought to one: what a name means, whichever way it was imported."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

_FAMILIES = frozenset(
    {
        "layers",
        "optimizers",
        "losses",
        "metrics",
        "callbacks",
        "initializers",
        "regularizers",
        "activations",
        "applications",
    }
)
_OLD_NAMES = {
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "SeparableConvolution2D": "SeparableConv2D",
    "Deconvolution2D": "Conv2DTranspose",
    "Convolution2DTranspose": "Conv2DTranspose",
    "CuDNNLSTM": "LSTM",
    "CuDNNGRU": "GRU",
}
_ROOTS = (
    "tensorflow.keras.",
    "tensorflow.python.keras.",
    "tf_keras.",
    "tensorflow.compat.v1.keras.",
    "tensorflow.compat.v2.keras.",
)
_MOVED = ("losses", "metrics", "optimizers", "initializers")


@lru_cache(4096)
def meaning(name: str) -> str:
    """The one name of what a script may call in many ways: "keras.layers.Conv2D" for "tensorflow.keras.layers.Convolution2D"."""
    for root in _ROOTS:
        if name.startswith(root):
            name = f"keras.{name.removeprefix(root)}"
            break
    parts = name.split(".")
    if parts[0] == "tensorflow" and len(parts) > 2 and parts[1] in _MOVED:
        parts[0] = "keras"
    if parts[0] != "keras" or len(parts) < 2:
        return ".".join(parts)
    if parts[1] in ("models", "engine") and parts[-1] in ("Sequential", "Model"):
        return f"keras.{parts[-1]}"
    if parts[1] in ("engine", "legacy", "src"):
        parts = ["keras", *parts[2:]]
    if len(parts) > 2 and parts[1] in _FAMILIES:
        last = _OLD_NAMES.get(parts[-1], parts[-1])
        return f"keras.{parts[1]}.{last}"
    if parts[1:] == ["Input"]:
        return "keras.layers.Input"
    if parts[1] == "utils" and len(parts) > 3:
        return f"keras.utils.{parts[-1]}"
    return ".".join(parts)


def of_keras(name: str) -> bool:
    """Whether it is of Keras, by any way to it."""
    return name == "keras" or meaning(name).startswith("keras.")


@lru_cache(1)
def _table() -> tuple[str, dict[str, str]]:
    text = files("stethoscope.pasted.scripts.api").joinpath("public_names.txt").read_text("utf-8")
    head, *rows = text.split("\n")
    table = {}
    for row in rows:
        name, _, form = row.partition(" ")
        if name:
            table[name] = form
    return head.removeprefix("# "), table


def versions() -> str:
    """What the table of names was made of: "tensorflow 2.21.0 keras 3.15.1"."""
    return _table()[0]


_UNLISTED = (
    "tensorflow.python",
    "tensorflow.raw_ops",
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2",
    "keras.src",
    "keras.api",
    "tensorflow.compat.v1.raw_ops",
    "tensorflow.lite.python",
    "tensorflow.core",
    "tensorflow.compiler",
    "tensorflow.tools",
    "tensorflow.keras.src",
    "tensorflow.compat.v1.estimator",
    "tensorflow.tsl",
)
"""Of these the table does not tell."""


@lru_cache(4096)
def first_missing(name: str) -> str:
    """The shortest beginning of a name of TensorFlow or Keras that does not exist any more; "" where all of it does, or nobody knows."""
    parts = name.split(".")
    private = any(part.startswith("_") and not part.startswith("__") for part in parts)
    if private or parts[0] not in ("tensorflow", "keras"):
        return ""
    if any(name == known or name.startswith(f"{known}.") for known in _UNLISTED):
        return ""
    table = _table()[1]
    if parts[0] == "tensorflow" and len(parts) > 1 and parts[1] in _MOVED:
        parts.insert(1, "keras")
    for count in range(2, len(parts) + 1):
        here, above = ".".join(parts[:count]), ".".join(parts[: count - 1])
        if parts[count - 1].startswith("__") or here in table or here in ("tensorflow.keras", "tensorflow.compat.v2"):
            continue
        if above in ("tensorflow", "keras", "tensorflow.keras") or table.get(above) == "/":
            return ".".join(name.split(".")[: count - (len(parts) - len(name.split(".")))])
        return ""  # an attribute of a class: not listed
    return ""


def exists(name: str) -> bool:
    """Whether there is such a name."""
    return name in _table()[1] or name in ("keras", "tensorflow", "tensorflow.keras")


def parameters(name: str) -> tuple[str, ...] | None:
    """The parameters of a public function or class ("**kwargs" with its stars), or None where they are not known."""
    table = _table()[1]
    form = table.get(name) or table.get(name.removeprefix("tensorflow."), "")
    return tuple(form[1:-1].split(",")) if form.startswith("(") else None


def methods(name: str) -> frozenset[str]:
    """The public attributes of a class whose methods are listed; empty for others."""
    return frozenset(key.partition("#")[2] for key in _table()[1] if key.startswith(f"{name}#"))
