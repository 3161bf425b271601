"""Writes what TensorFlow and Keras offer by name: what a reader of training scripts holds their lines against.

`python -m tools.script_api` looks into the installed packages and writes `stethoscope/pasted/scripts/api/public_names.txt`.
A test compares the two, so a new version of either is noticed.
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "stethoscope" / "pasted" / "scripts" / "api" / "public_names.txt"
_DEEPEST = 6
_CLASSES = (
    "keras.Model",
    "keras.Sequential",
    "keras.layers.Layer",
    "keras.optimizers.Optimizer",
    "keras.callbacks.History",
    "keras.metrics.Metric",
    "tensorflow.data.Dataset",
    "tensorflow.distribute.MirroredStrategy",
    "tensorflow.distribute.TPUStrategy",
    "tensorflow.GradientTape",
    "tensorflow.keras.preprocessing.image.ImageDataGenerator",
)
"""Whose methods are listed with their arguments."""


def lines() -> list[str]:
    """The table: a line of versions, then one for each public name."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    import tensorflow as tf
    from keras._tf_keras import keras as within_tf

    found = {f"keras.{name}": thing for name, thing in _walk(keras, "keras")}
    within = {f"tensorflow.{name}": thing for name, thing in _walk(tf, "tensorflow")}
    within |= {f"tensorflow.keras.{name}": thing for name, thing in _walk(within_tf, "keras")}
    told = [f"# tensorflow {tf.__version__} keras {keras.__version__}"]
    for name, thing in sorted((found | within).items()):
        alike = name.startswith("tensorflow.keras.") and found.get(name.removeprefix("tensorflow.")) is thing
        signed = not name.startswith("tensorflow.compat.v1.") and not alike
        told.append(f"{name} {_form(thing) if signed else _short(thing)}".rstrip())
    for name in _CLASSES:
        thing = (found | within)[name]
        for method in sorted(dir(thing)):
            if not method.startswith("_"):
                told.append(f"{name}#{method} {_form(getattr(thing, method, None))}".rstrip())
    return told


def _walk(module: Any, root: str) -> Iterator[tuple[str, Any]]:
    seen: set[tuple[int, str]] = set()

    def look(where: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
        for name in sorted(dir(where)):
            if name.startswith("_") or name == "raw_ops" or (name in ("v2", "compat") and "compat." in prefix):
                continue
            try:
                thing = getattr(where, name)
            except Exception:  # noqa: BLE001 - a lazy name that cannot be loaded is none
                continue
            if name in ("annotations", "absolute_import", "division", "print_function"):
                continue
            if type(thing).__name__ == "KerasLazyLoader":
                continue  # Keras by another name, looked at by itself
            if not isinstance(thing, types.ModuleType):
                yield prefix + name, thing
                continue
            public = thing.__name__.startswith((f"{root}.", "keras.")) or "_api" in thing.__name__
            if "src" in thing.__name__.split(".") or ".python." in thing.__name__ or not public:
                continue
            yield prefix + name, thing
            if depth < _DEEPEST and (id(thing), prefix) not in seen:
                seen.add((id(thing), prefix))
                yield from look(thing, f"{prefix}{name}.", depth + 1)

    yield from look(module, "", 0)


def _short(thing: Any) -> str:
    return "/" if isinstance(thing, types.ModuleType) else ""


def _form(thing: Any) -> str:
    if isinstance(thing, types.ModuleType):
        return "/"
    if not callable(thing):
        return ""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return ""
    if isinstance(thing, type):
        parameters += _handed_on(thing, {parameter.name for parameter in parameters})
    names = []
    for parameter in parameters:
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        names.append(stars + parameter.name)
    return f"({','.join(names)})"


def _handed_on(kind: type, known: set[str]) -> list[inspect.Parameter]:
    """What a class takes as `**kwargs` for the classes it derives from."""
    more = []
    for base in kind.__mro__[1:]:
        own = base.__dict__.get("__init__")
        if base is object or own is None or "kwargs" not in known:
            break
        for parameter in inspect.signature(own).parameters.values():
            plain = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            if plain and parameter.name != "self" and parameter.name not in known:
                more.append(parameter)
                known.add(parameter.name)
        if not any(one.kind is one.VAR_KEYWORD for one in inspect.signature(own).parameters.values()):
            break
    return more


def main() -> None:
    """Writes the table."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(lines())} lines")


if __name__ == "__main__":
    main()
