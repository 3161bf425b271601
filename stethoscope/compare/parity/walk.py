"""Two models layer by layer: pairs of layers, their differences and the first that parts, the same whichever is given first.

Pairs are found, and the parting looked for, along the order of one model. Were that always the one that is given first, two
models exchanged would part elsewhere: so it is chosen by what the models are, and what is found there is told in the layers of
the first.

Pairs of layers as rows of the answer, and what they say that a verdict does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from stethoscope.architecture.matching import is_across, match
from stethoscope.compare.parity.array_difference import finite_or_none
from stethoscope.compare.parity.comparison import ComparedLayer, InputCause, OfBoth, Parting
from stethoscope.compare.parity.first_divergence import Divergence, first_divergence, layer_errors, reads
from stethoscope.compare.parity.layer_pairs import CutRange, TensorPair, first_cut, pair
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.compare.parity.side import SideSeen
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture


def layer_row(one: TensorPair, first: LayerTensors, second: LayerTensors, same: bool) -> ComparedLayer:
    """A pair as the answer has it; `same` is whether its difference is explained."""
    row = ComparedLayer(
        key=one.a,
        a=first.layers[one.a],
        b=second.layers[one.b],
        how=one.how,
        orientation=one.orientation.said(),
        nrmse=finite_or_none(one.difference.nrmse),
        max_abs=finite_or_none(one.difference.max_abs),
        cosine=one.difference.cosine,
        sqnr_db=one.difference.sqnr_db,
        same=same,
    )
    if one.b not in second.quantised:
        return row
    low, high = second.quantised[one.b]
    values = first.read(one.a)
    clipped = float(np.mean((values < low) | (values > high)))
    return replace(row, clipped=clipped, range=(low, high), step=second.steps[one.b])


def at_the_input(tried: InputCause, tensors: LayerTensors, pairs: Mapping[str, TensorPair]) -> Parting:
    """Where models part that part before their first layer, where a change of the input explains it."""
    key = next((one for one in tensors if one in pairs), None)
    return Parting(
        a=tensors.layers[key] if key else "",
        b=pairs[key].b if key else "",
        layer=tensors.layers[key] if key else "",
        group=(),
        cause=tried.title,
        cause_id=tried.cause_id,
        confidence=tried.confidence,
        sentence=tried.sentence,
        fix=tried.fix,
    )


def at_the_cut(cut: CutRange, first: LayerTensors, second: LayerTensors, name: str) -> Parting:
    """Where models part whose outputs are within tolerance although a layer cuts off what it should hold."""
    layer, there = first.layers[cut.pair.a], second.layers[cut.pair.b]
    told = (
        f"{layer!r} of {name} holds {cut.low:.3g} to {cut.high:.3g}: {cut.share:.1%} of what it should answer lies beyond and is cut off, "
        f"which explains {1 - cut.left:.0%} of its difference."
    )
    return Parting(
        a=layer,
        b=there,
        layer=layer,
        group=(layer,),
        cause="The range is clipped",
        cause_id="clipped-range",
        confidence=0.92 if cut.left < 0.1 else 0.75,
        sentence=told,
        fix="Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        seen_at=OfBoth(layer, there),
        nrmse=finite_or_none(cut.pair.difference.nrmse),
    )


Matched = dict[str, tuple[str, Literal["name", "structure"]]]


@dataclass(frozen=True)
class View:
    """Where two models part, as one of them sees it: it is the first here, whichever was given first."""

    found: Divergence
    first: SideSeen
    second: SideSeen
    tensors: tuple[LayerTensors, LayerTensors]
    pairs: Mapping[str, TensorPair]
    """By the key of the first."""
    matched: Matched
    """The second's layer for each of the first, and how it was matched."""
    as_given: bool
    """Whether the first is the one that was given first."""


class Walk:
    """Along the model that leads, beside the other."""

    def __init__(
        self, first: SideSeen, second: SideSeen, tensors: tuple[LayerTensors, LayerTensors], floor: float
    ) -> None:
        """Pairs the layers.

        Args:
            first: the model that is given first.
            second: the other.
            tensors: of both, on the same rows.
            floor: the share that the precision of both alone may make.
        """
        self._floor = floor
        self._as_given = leads(first, second, tensors)
        self._leader, self._other = (first, second) if self._as_given else (second, first)
        self._ahead, self._behind = tensors if self._as_given else tensors[::-1]
        self.across = is_across(first.architecture, second.architecture)
        matched = _matched(self._leader.architecture, self._other.architecture, self.across)
        self._pairs = pair(self._ahead, self._behind, matched, floor, certain=not self.across)
        self._sources = reads(self._leader.architecture, self._ahead)
        self._errors = layer_errors(self._ahead, self._behind, self._pairs, self._sources, floor=floor)
        self._explained = {error.key for error in self._errors if error.same}
        self._matched = matched

    def divergence(self, excused: Collection[str] = ()) -> Divergence | None:
        """Where they part, in the layers of the model that leads; None where no layer is to blame.

        Args:
            excused: layers of that model whose difference is put right by those that read them.
        """
        errors = self._errors
        if excused:
            errors = layer_errors(
                self._ahead, self._behind, self._pairs, self._sources, floor=self._floor, excused=excused
            )
        return first_divergence(self._leader.architecture, self._ahead, self._behind, self._pairs, errors)

    def pairs(self, parting: Divergence | None) -> dict[str, TensorPair]:
        """The pairs by the key of the first model.

        Args:
            parting: as `divergence` gives it.
        """
        return dict(self._pairs) if self._as_given else self._exchanged(parting)

    def _exchanged(self, parting: Divergence | None) -> dict[str, TensorPair]:
        """The pairs by the key of the model that does not lead.

        Where a tensor of it is several layers' counterpart, of these the one is taken at which they part, else the one most like
        it, of equals the last.
        """
        nearest: dict[str, TensorPair] = {}
        for one in self._pairs.values():
            known = nearest.get(one.b)
            if known is None or one.difference.nrmse <= known.difference.nrmse:
                nearest[one.b] = one
        if parting is not None:
            nearest[parting.pair.b] = parting.pair
        return {key: nearest[key].exchanged() for key in self._behind if key in nearest}

    def views(self, found: Divergence) -> tuple[View, View]:
        """Where they part as each of them sees it, the model that leads first.

        Args:
            found: as `divergence` gives it.
        """
        pairs = self._exchanged(found)
        there = {b: (a, how) for a, (b, how) in self._matched.items()}
        return (
            View(
                found,
                self._leader,
                self._other,
                (self._ahead, self._behind),
                self._pairs,
                self._matched,
                self._as_given,
            ),
            View(
                self._of_other(found, pairs),
                self._other,
                self._leader,
                (self._behind, self._ahead),
                pairs,
                there,
                not self._as_given,
            ),
        )

    def explained(self, one: TensorPair) -> bool:
        """Whether what went in and the precision explain the difference of a pair by the key of the first model."""
        return (one.a if self._as_given else one.b) in self._explained

    def _of_other(self, found: Divergence, pairs: Mapping[str, TensorPair]) -> Divergence:
        """Where they part, in the layers of the model that does not lead."""
        first, second = self._behind, self._ahead
        sources = reads(self._other.architecture, first)
        parts = found.pair.exchanged()
        partners: dict[str, set[str]] = {}
        for one in pairs.values():
            partners.setdefault(first.layers[one.a], set()).add(second.layers[one.b])
        layer = first.layers[parts.a]
        group, known, seen = [layer], [], {layer}
        waiting = list(sources.get(layer, ()))
        while waiting:
            path = waiting.pop(0)
            if path in seen:
                continue
            seen.add(path)
            theirs = partners.get(path, set()) - set(found.group)
            if theirs:
                known += [path] * bool(theirs & set(found.known))
                continue
            group.append(path)
            waiting.extend(sources.get(path, ()))
        return Divergence(parts, layer, tuple(reversed(group)), tuple(known))

    def cut(self) -> Parting | None:
        """The first layer that cuts off what it should hold, whichever of the two keeps the integers; None for none."""
        cut = first_cut(self._ahead, self._behind, self._pairs)
        if cut is None:
            return None
        found = at_the_cut(cut, self._ahead, self._behind, self._other.file.name)
        if self._as_given:
            return found
        return replace(found, a=found.b, b=found.a, layer=found.b, group=(found.b,), seen_at=OfBoth(found.b, found.a))


def leads(first: SideSeen, second: SideSeen, tensors: tuple[LayerTensors, LayerTensors]) -> bool:
    """Whether the first model is the one that is walked; the same model of both whichever is given first.

    Layers lead operators, real numbers lead integers, more tensors lead fewer: the one that shows more tells where the other
    has put several together. Of models alike in all that, the names of their layers decide, then what these answer: which means
    nothing, but is the same in both orders.
    """
    return _rank(first, tensors[0]) <= _rank(second, tensors[1])


def _rank(side: SideSeen, tensors: LayerTensors) -> tuple[bool, bool, int, list[tuple[str, float, float]]]:
    answers = [(tensors.layers[key], tensors.moments[key].mean, tensors.moments[key].std) for key in tensors]
    return not format_of(side.architecture).live, bool(tensors.steps), -len(tensors), answers


def _matched(first: Architecture, second: Architecture, across: bool) -> Matched:
    """The second model's layer for each of the first, and how it was matched; in one language the same name is the same layer."""
    found: Matched = {one.a: (one.b, one.how) for one in match(first, second)}
    if not across:
        taken, names = {b for b, _ in found.values()}, {layer.path for layer in second.layers}
        for layer in first.layers:
            if layer.path not in found and layer.path in names - taken:
                found[layer.path] = (layer.path, "name")
    return found
