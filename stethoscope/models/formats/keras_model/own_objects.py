"""The classes and functions of a model's own, made known to Keras by running the file that defines them. Worker only."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.models.own_code import source_of
from stethoscope.types import ModelFile

_MODULE = "own_code"
_done: set[tuple[str, bool]] = set()


def register(code: ModelFile | None, *, modern: bool) -> None:
    """Runs a file once in this process; what it defines is found by its name whenever Keras rebuilds a model here.

    Args:
        code: the file; None for a model without one.
        modern: whether the model is of Keras 3. For one of Keras 2, the file's `keras` and `tf.keras` are Keras 2.

    Raises:
        CannotRun: it raised; says what, and in which line.
    """
    if code is None or (str(code.path), modern) in _done:
        return
    module = types.ModuleType(_MODULE)
    module.__file__ = code.name
    sys.modules[_MODULE] = module  # dataclasses and pickles of its own look there
    try:
        with _as_keras2(not modern):
            exec(compile(source_of(code), code.name, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise CannotRun(_failed(code, error)) from error
    known = _package(modern).saving.get_custom_objects()
    known.update({name: thing for name, thing in _objects(module).items() if name not in known})
    _done.add((str(code.path), modern))


def _package(modern: bool) -> Any:
    if modern:
        import keras

        return keras
    import tf_keras

    return tf_keras


def _objects(module: types.ModuleType) -> dict[str, Any]:
    return {name: thing for name, thing in vars(module).items() if callable(thing) and not name.startswith("__")}


@contextmanager
def _as_keras2(wanted: bool) -> Iterator[None]:
    """While the file runs, `import keras` and `from tensorflow.keras import …` give Keras 2."""
    import tensorflow as tf
    import tf_keras

    if not wanted:
        import keras

        tf.__dict__["keras"] = keras
        yield
        return
    tf.__dict__["keras"] = tf_keras
    aliases = {}
    for name in [name for name in sys.modules if name == "tf_keras" or name.startswith("tf_keras.")]:
        for place in ("keras", "tensorflow.keras"):
            aliases[place + name.removeprefix("tf_keras")] = sys.modules[name]
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "keras" or name.startswith("keras.")}
    hidden |= {name: sys.modules[name] for name in aliases if name in sys.modules}
    sys.modules.update(aliases)
    try:
        yield
    finally:
        for name in [*aliases, *(name for name in sys.modules if name.startswith("keras."))]:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


def _failed(code: ModelFile, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == code.name]
    where = f", line {lines[-1]}" if lines else ""
    said = f"{code.name}{where}: {type(error).__name__} while it was run: {gist(error)}."
    if isinstance(error, ImportError):
        return f"{said} Put what it imports of your own into this one file; packages must be installed on this machine."
    return f"{said} Leave only what defines the model's classes and functions: no training, no reading of files."
