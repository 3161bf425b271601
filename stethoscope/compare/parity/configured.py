"""What the configurations of two models say where one of them cannot be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stethoscope.architecture.layer_looks import changes
from stethoscope.architecture.matching import is_across, match
from stethoscope.errors import CannotRun, NeedsTrust, StethoscopeError
from stethoscope.models.formats import detect
from stethoscope.types import ModelFile

_TELLING = ("type", "config", "inputs")


@contextmanager
def told_by_configuration(files: Mapping[str, ModelFile], other: str) -> Iterator[None]:
    """Adds to a refusal the first layer whose configuration differs, where both files speak one language.

    Args:
        files: of the job; "model" is one of the two.
        other: the role of the second; nothing is added where there is none.

    Raises:
        CannotRun, NeedsTrust: as they come.
    """
    try:
        yield
    except (CannotRun, NeedsTrust) as error:
        said = first_change(files["model"], files[other]) if other in files else ""
        if not said:
            raise
        raise type(error)(f"{error} {said}", error.details) from error


def first_change(first: ModelFile, second: ModelFile) -> str:
    """A sentence on the first layer whose type or settings differ; "" where none does or nothing can be told."""
    try:
        a, b = (detect(file).describe(file) for file in (first, second))
    except StethoscopeError:
        return ""
    if is_across(a, b):
        return ""
    there = {layer.path: layer for layer in b.layers}
    pairs = {one.a: one.b for one in match(a, b)}
    taken = set(pairs.values())
    pairs |= {one.path: one.path for one in a.layers if one.path not in pairs and one.path in there.keys() - taken}
    for layer in a.layers:
        if layer.path not in pairs:
            continue
        for change in changes(layer, there[pairs[layer.path]], pairs, across=False):
            if change.what in _TELLING:
                return (
                    f"Their configurations differ first at {layer.path!r}: {change.field} is {_short(change.a)} in {first.name} and "
                    f"{_short(change.b)} in {second.name}."
                )
    return ""


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
