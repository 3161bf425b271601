"""Reading and replacing what single live Keras layers put out, by their own `call`, always restored. Worker only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def tapped(taps: Mapping[str, tuple[Any, int, Callable[[Any], Any]]]) -> Iterator[None]:
    """Sends each layer's result through a function that may return another in its place.

    Args:
        taps: by any name, (live layer or operation, which of its calls from 1 (0: every call), the function).
    """
    by_layer: dict[int, list[tuple[Any, int, Callable[[Any], Any]]]] = {}
    for layer, occurrence, change in taps.values():
        by_layer.setdefault(id(layer), []).append((layer, occurrence, change))
    with replaced({id(one[0][0]): (one[0][0], "call", _wrapped(one)) for one in by_layer.values()}):
        yield


def _wrapped(taps: list[tuple[Any, int, Callable[[Any], Any]]]) -> Any:
    import tensorflow as tf

    original = taps[0][0].call
    count = 0

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        result = original(*args, **kwargs)
        for _, occurrence, change in taps:
            if occurrence in (0, count):
                # A recurrent layer returns its output and then its states.
                result = [change(result[0]), *result[1:]] if isinstance(result, list | tuple) else change(result)
        return result

    return call


@contextmanager
def replaced(changes: Mapping[int, tuple[Any, str, Any]]) -> Iterator[None]:
    """Gives objects another attribute of their own for a while, whatever their class makes of setting one."""
    done: list[tuple[Any, str, bool, Any]] = []
    try:
        for thing, name, value in changes.values():
            own = vars(thing)
            done.append((thing, name, name in own, own.get(name)))
            own[name] = value
        yield
    finally:
        for thing, name, had, before in reversed(done):
            if had:
                vars(thing)[name] = before
            else:
                vars(thing).pop(name, None)
