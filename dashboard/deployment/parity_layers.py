"""Layers of two models beside each other, as a comparison told them: which have an answer of their own in both, and how far apart it is."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stethoscope.compare.parity.comparison import ComparedLayer, Comparison, Parting
from stethoscope.types import Architecture


@dataclass(frozen=True)
class LayerPair(ComparedLayer):
    """One layer of the first model and its counterpart, and where that is seen from where they part. All text is hostile."""

    parted: bool = False
    """Whether the models part here."""
    follows: bool = False
    """Whether it lies behind where they part: what goes into it differs already."""


def pairs(compared: Comparison, architecture: Architecture | None = None) -> list[LayerPair]:
    """The layers of a comparison's answer in the order of the first model.

    Args:
        compared: the answer.
        architecture: of the first model, for which layer reads which.
    """
    layers = [LayerPair(**vars(layer)) for layer in compared.layers]
    if compared.first_divergence is not None:
        layers = _with_parting(layers, compared.first_divergence, architecture)
    behind = _behind(layers, _readers(architecture))
    return [replace(one, follows=one.a in behind) for one in layers]


def _behind(found: Iterable[LayerPair], reads: Mapping[str, Sequence[str]]) -> set[str]:
    """The layers that read, directly or through others, the one at which the models part."""
    waiting = [one.a for one in found if one.parted]
    seen: set[str] = set()
    while waiting:
        for name in reads.get(waiting.pop(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def errors(compared: Comparison, architecture: Architecture | None = None) -> dict[str, float]:
    """By layer of the first model, the difference as a share of the values of both; layers without a finite one are left out."""
    found: dict[str, float] = {}
    for one in pairs(compared, architecture):
        if not one.merged and one.nrmse is not None:
            found[one.a] = max(found.get(one.a, 0.0), one.nrmse)
    return found


def quantised(found: Iterable[LayerPair]) -> list[LayerPair]:
    """Those that the second model keeps as integers."""
    return [one for one in found if one.step and not one.merged]


def as_csv(found: Sequence[LayerPair]) -> bytes:
    """Every layer with every number in full; no cell starts a spreadsheet formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "layer",
            "in_the_other",
            "matched_by",
            "orientation",
            "relative_difference",
            "largest_difference",
            "cosine",
            "signal_to_noise_db",
            "clipped_fraction",
            "lowest",
            "highest",
            "step",
            "explained",
            "merged",
            "parts_here",
            "behind_it",
        ]
    )
    for one in found:
        writer.writerow(
            [
                _text(one.key),
                _text(one.b),
                one.how,
                one.orientation,
                *(
                    "" if number is None else repr(number)
                    for number in (
                        one.nrmse,
                        one.max_abs,
                        one.cosine,
                        one.sqnr_db,
                        one.clipped,
                        *(one.range or (None, None)),
                        one.step,
                    )
                ),
                *(str(flag).lower() for flag in (one.same, one.merged, one.parted, one.follows)),
            ]
        )
    return out.getvalue().encode()


def _with_parting(found: list[LayerPair], parting: Parting, architecture: Architecture | None) -> list[LayerPair]:
    """Marks where the models part; a layer that has no row of its own gets one, behind those of its group."""
    path, there = parting.place
    if not path:
        return found
    at = next((place for place, one in enumerate(found) if one.a == path and not one.same), None)
    if at is None:
        at = next((place for place, one in enumerate(found) if one.a == path), None)
    if at is not None:
        return [replace(one, parted=True) if place == at else one for place, one in enumerate(found)]
    if parting.nrmse is None:
        return found
    order = {layer.path: place for place, layer in enumerate(architecture.layers)} if architecture is not None else {}
    behind = [
        place
        for place, one in enumerate(found)
        if one.a in parting.group or order.get(one.a, math.inf) < order.get(path, 0)
    ]
    made = LayerPair(path, path, there, "values", "", parting.nrmse, None, None, None, same=False, parted=True)
    place = max(behind, default=-1) + 1
    return [*found[:place], made, *found[place:]]


def _readers(architecture: Architecture | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for layer in architecture.layers if architecture is not None else ():
        for name in layer.inputs:
            found.setdefault(name, []).append(layer.path)
    return found


def _text(text: str) -> str:
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
