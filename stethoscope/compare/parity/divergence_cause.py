"""Why two models part where they do, and at which layer: the place is gathered as a case, and every cause weighs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from stethoscope.compare.both import OfBoth
from stethoscope.compare.parity.array_difference import finite_or_none
from stethoscope.compare.parity.causes import guesses
from stethoscope.compare.parity.comparison import InputCause, Parting, WeighedCause
from stethoscope.compare.parity.divergence_case import carried_names, gathered, only_in_second
from stethoscope.compare.parity.first_divergence import Divergence
from stethoscope.compare.parity.layer_pairs import TensorPair
from stethoscope.compare.parity.layer_tensors import LayerTensors, near
from stethoscope.compare.parity.normalization_suspicions import FACTORS_MISSING
from stethoscope.compare.parity.side import Side, SideSeen
from stethoscope.types import Feed


def explain(
    found: Divergence,
    first: SideSeen,
    second: Side,
    tensors: tuple[LayerTensors, LayerTensors],
    pairs: Mapping[str, TensorPair],
    feed: Feed,
    matched: Mapping[str, tuple[str, Literal["name", "structure"]]],
    preprocessing: InputCause | None,
) -> Parting:
    """The divergence as the answer has it: where, the likeliest cause, and the others that were weighed.

    Args:
        found: where.
        first: the model that is right; it need not be open any more.
        second: the other, open.
        tensors: of both.
        pairs: by key.
        feed: the rows, as the second takes them.
        matched: the second's layer for each of the first.
        preprocessing: what was found at the input, if anything.
    """
    added = only_in_second(found, second, tensors, pairs)
    case = gathered(found, first, second, tensors, added, feed, matched)
    weighed = [
        WeighedCause(guess.title, guess.cause, guess.sentence, guess.confidence, guess.layer, guess.fix)
        for guess in guesses(case)
    ]
    if preprocessing is not None:
        outside = WeighedCause(
            preprocessing.title,
            preprocessing.cause_id,
            preprocessing.sentence,
            preprocessing.confidence,
            found.layer,
            preprocessing.fix,
        )
        weighed.insert(0, outside)
    best = weighed[0]
    layer = best.layer if best.layer in found.group else found.layer
    if preprocessing is not None:
        layer = found.group[0]
    if best.confidence < _TRIED and (extra := _added_to(found, added, tensors)):
        layer = extra
    partner = matched.get(layer, ("", ""))[0] if layer != found.layer else tensors[1].layers[found.pair.b]
    return Parting(
        a=layer,
        b=partner or tensors[1].layers[found.pair.b],
        layer=layer,
        group=found.group,
        cause=best.cause,
        cause_id=best.cause_id,
        confidence=best.confidence,
        sentence=best.sentence,
        fix=best.fix,
        guesses=tuple(weighed[1:5]),
        seen_at=OfBoth(found.layer, tensors[1].layers[found.pair.b]),
        nrmse=finite_or_none(found.pair.difference.nrmse),
    )


_TRIED = 0.97
"""So sure we are only of what was tried on the layer's own input."""


def is_tried(parting: Parting) -> bool:
    """Whether the cause was tried on the layer's own input, and gave what the other model answers."""
    return parting.confidence >= _TRIED


def may_be_folded(parting: Parting) -> bool:
    """Whether the factors that a layer lacks may lie in the weights of the layer that reads it: converters put them there."""
    return is_tried(parting) and parting.cause_id == "weights" and parting.cause in FACTORS_MISSING


def _added_to(found: Divergence, added: Sequence[str], tensors: tuple[LayerTensors, LayerTensors]) -> str:
    """The layer that goes into the group and whose name an operator carries that only the second model has after it; "" without one.

    The layer's own operator is the same in both: what was added to it (a bound, a second activation) is not. Operators that only
    turn or reshape what went in do not count.
    """
    moments = [tensors[0].moments[key] for path in found.known for key in tensors[0].keys_of(path)[:1]]
    added = [
        path
        for path in added
        if not any(near(one, tensors[1].moments[key], 1e-3) for key in tensors[1].keys_of(path)[:1] for one in moments)
    ]
    names = {path.rsplit("/", 1)[-1]: path for path in found.known}
    mine = _scopes(tensors[1].layers[found.pair.b])
    scopes = {scope: path for path in found.known for scope in _scopes(path) - mine}
    for path in added:
        for name in carried_names(path) & names.keys():
            return names[name]
        for scope in _scopes(path) & scopes.keys():
            return scopes[scope]
    return ""


def _scopes(path: str) -> set[str]:
    """Of an operator's path, the layers that it was made of ("model/act" of "model/act/Relu"); none for a layer of its own name."""
    return {part.rsplit("/", 1)[0] for part in path.split(";") if "/" in part}
