"""Rows as people have them, texts or pictures of many sizes, beside inputs that take numbers of one shape: what is missing between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.study.profiles import Unprepared
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit.report import InputFit
from stethoscope.evidence.data_fit.sampled_rows import Rows, flat, shapes_of
from stethoscope.evidence.input_route import input_route
from stethoscope.types import Architecture

_MOST_TEXTS = 2_000
_TARGETS = ("y", "label", "labels", "target", "targets")


def unprepared(
    inputs: Sequence[InputFit], arrays: Mapping[str, Rows], architecture: Architecture, targets: Sequence[str] = ()
) -> tuple[Unprepared, ...]:
    """The inputs that get texts, or rows of several shapes, where they take numbers of one.

    Args:
        inputs: each beside its array.
        arrays: rows that were read, by name.
        architecture: of the model.
        targets: names of arrays that are labels.
    """
    found = []
    texts = [name for name, rows in arrays.items() if _is_text(rows) and name not in (*targets, *_TARGETS)]
    alone = [one for one in inputs if one.has is None]
    for one in inputs:
        name = one.has.name if one.has is not None else ""
        if not name and texts and len(alone) == len(inputs):
            # None of the inputs is there, and there are texts: the usual case of ids, mask and segments.
            name = "x" if "x" in texts else texts[0]
        rows = arrays.get(name)
        if rows is None or one.expects.dtype == "string":
            continue
        if _is_text(rows):
            found.append(_texts(one, name, rows, architecture))
        elif one.has is not None and one.has.shape == "several" and one.expects.shape:
            found.append(_uneven(one, name, rows))
    return tuple(found)


def _is_text(rows: Rows) -> bool:
    return flat(rows[:_MOST_TEXTS] if isinstance(rows, np.ndarray) else rows).dtype.kind in "USO" and bool(len(rows))


def _texts(one: InputFit, name: str, rows: Rows, architecture: Architecture) -> Unprepared:
    texts = [str(text) for text in np.ravel(flat(rows)[:_MOST_TEXTS])]
    counts = np.array([len(text.split()) for text in texts])
    shape = one.expects.shape or ()
    looked_up = input_route(architecture, one.name).looked_up
    table = next((layer for layer in architecture.layers if looked_up and layer.path == looked_up), None)
    vocabulary = None if table is None else table.config.get("input_dim")
    return Unprepared(
        input=one.name,
        kind="text",
        array=name,
        shape=tuple(shape[1:]),
        dtype=one.expects.dtype,
        looked_up=bool(looked_up),
        vocabulary=vocabulary if isinstance(vocabulary, int) and vocabulary > 0 else None,
        usual_words=int(np.median(counts)),
        most_words=int(counts.max()),
    )


def _uneven(one: InputFit, name: str, rows: Rows) -> Unprepared:
    assert one.has is not None
    sizes = shapes_of(rows)
    steps = one.suggested[0] if one.suggested else ()
    code = ""
    said: tuple[str, ...] = ()
    try:
        preparation = Preparation.from_json(list(steps))
        code, said = preparation.code(), tuple(preparation.words())
    except StethoscopeError:
        steps = ()
    return Unprepared(
        input=one.name,
        kind="picture" if one.expects.kind == "image" else "rows",
        array=name,
        shape=tuple((one.expects.shape or ())[1:]),
        dtype=one.expects.dtype,
        sizes=tuple(sizes[:3]),
        different_sizes=len(sizes),
        low=one.has.min,
        high=one.has.max,
        steps=said,
        code=code if steps else "",
    )
