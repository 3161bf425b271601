"""Layers of two models beside each other, as a comparison told them: which have an answer of their own in both, and how far apart it is."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.types import Architecture


@dataclass(frozen=True)
class LayerPair:
    """One layer of the first model and its counterpart. All text is hostile."""

    key: str
    """Its own: a layer that is called twice has two."""
    a: str
    b: str
    how: str
    """How they were matched: "name", "structure" or "values"."""
    orientation: str
    nrmse: float | None
    """Root mean square difference as a share of the first's; None where a value is no number."""
    max_abs: float | None
    cosine: float | None
    sqnr_db: float | None
    """Signal to noise in dB; None where nothing differs."""
    same: bool
    """Whether what went in and the precision explain the difference."""
    clipped: float | None
    """Share of the first's values that the second cannot represent; None where it is not quantised."""
    low: float | None
    high: float | None
    """What the second can represent, where it is quantised."""
    step: float | None
    """Of the second's integers, as a real number."""
    merged: bool = False
    """Whether the second model computes it only together with a neighbour: then there is nothing to compare it with."""
    parted: bool = False
    """Whether the models part here."""
    follows: bool = False
    """Whether it lies behind where they part: what goes into it differs already."""


def pairs(value: Mapping[str, Any], architecture: Architecture | None = None) -> list[LayerPair]:
    """The layers of a comparison's answer in the order of the first model.

    Args:
        value: the answer of the task `compare`.
        architecture: of the first model, for which layer reads which.
    """
    found = [
        _pair(row) for row in value.get("layers") or () if isinstance(row, Mapping) and isinstance(row.get("a"), str)
    ]
    parting = value.get("first_divergence") or {}
    seen_at = parting.get("seen_at") or parting
    found = _with_parting(found, str(seen_at.get("a") or ""), seen_at, parting, architecture)
    behind = _behind(found, _readers(architecture))
    return [replace(one, follows=one.a in behind) for one in found]


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


def errors(value: Mapping[str, Any], architecture: Architecture | None = None) -> dict[str, float]:
    """By layer of the first model, the difference as a share of its own values; layers without a finite one are left out."""
    found: dict[str, float] = {}
    for one in pairs(value, architecture):
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
    writer.writerow(["layer", "in_the_other", "matched_by", "orientation", "relative_difference", "largest_difference", "cosine",
                     "signal_to_noise_db", "clipped_fraction", "lowest", "highest", "step", "explained", "merged", "parts_here", "behind_it"])  # fmt: skip
    for one in found:
        writer.writerow([_text(one.key), _text(one.b), one.how, one.orientation, *("" if number is None else repr(number) for number in
                         (one.nrmse, one.max_abs, one.cosine, one.sqnr_db, one.clipped, one.low, one.high, one.step)),
                         *(str(flag).lower() for flag in (one.same, one.merged, one.parted, one.follows))])  # fmt: skip
    return out.getvalue().encode()


def _with_parting(
    found: list[LayerPair], path: str, seen_at: Mapping[str, Any], parting: Mapping[str, Any], architecture: Architecture | None
) -> list[LayerPair]:  # fmt: skip
    """Marks where the models part; a layer that has no row of its own gets one, behind those of its group."""
    if not path:
        return found
    at = next((place for place, one in enumerate(found) if one.a == path and not one.same), None)
    if at is None:
        at = next((place for place, one in enumerate(found) if one.a == path), None)
    if at is not None:
        return [replace(one, parted=True) if place == at else one for place, one in enumerate(found)]
    if parting.get("nrmse") is None:
        return found
    order = {layer.path: place for place, layer in enumerate(architecture.layers)} if architecture is not None else {}
    group = set(parting.get("group") or ())
    behind = [
        place for place, one in enumerate(found) if one.a in group or order.get(one.a, math.inf) < order.get(path, 0)
    ]
    made = _pair({**parting, "a": path, "b": seen_at.get("b"), "key": path, "how": "values", "same": False})
    place = max(behind, default=-1) + 1
    return [*found[:place], replace(made, parted=True), *found[place:]]


def _pair(row: Mapping[str, Any]) -> LayerPair:
    low, high = [*(row.get("range") or ()), None, None][:2]
    a = str(row.get("a"))
    return LayerPair(
        str(row.get("key") or a), a, str(row.get("b") or ""), str(row.get("how") or ""), str(row.get("orientation") or ""),
        _number(row.get("nrmse")), _number(row.get("max_abs")), _number(row.get("cosine")), _number(row.get("sqnr_db")),
        bool(row.get("same")), _number(row.get("clipped")), _number(low), _number(high), _number(row.get("step")),
        merged=row.get("merged") is True,
    )  # fmt: skip


def _readers(architecture: Architecture | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for layer in architecture.layers if architecture is not None else ():
        for name in layer.inputs:
            found.setdefault(name, []).append(layer.path)
    return found


def _number(value: Any) -> float | None:
    """A finite number from a worker's answer, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _text(text: str) -> str:
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
