"""Why two models part where they do, and at which layer: the place is gathered as a case, and every cause weighs it.

How the outputs of two models differ, on which rows most, and the verdict in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.array_difference import finite_or_none, largest_of, orient
from stethoscope.compare.parity.causes import guesses
from stethoscope.compare.parity.comparison import (
    Comparison,
    InputCause,
    OfBoth,
    OutputPair,
    Parting,
    WeighedCause,
    WorstRow,
)
from stethoscope.compare.parity.divergence_case import carried_names, gathered, only_in_second
from stethoscope.compare.parity.first_divergence import Divergence
from stethoscope.compare.parity.labelled_rows import sentence as scores_in_words
from stethoscope.compare.parity.layer_tensors import LayerTensors, near
from stethoscope.compare.parity.value_suspicions import FACTORS_MISSING
from stethoscope.compare.parity.walk import View
from stethoscope.types import Feed


def explain(views: tuple[View, View], preprocessing: InputCause | None) -> Parting:
    """The divergence as the answer has it: where, the likeliest cause, and the others that were weighed.

    Either model is taken for the one that is right, and the surer explanation is told: so it is the same whichever is given first.

    Args:
        views: as `Walk.views` gives them.
        preprocessing: what was found at the input, if anything.
    """
    told = [_explained(view) for view in views]
    surer = max(told, key=lambda parting: parting.confidence)
    given = next(place for place, view in enumerate(views) if view.as_given)
    best = surer if surer is told[given] else _exchanged(surer, told[given], views[given])
    if preprocessing is None:
        return best
    outside = _weighed(best)
    layer = best.group[0] if best.group else best.layer
    return replace(
        best,
        a=layer,
        layer=layer,
        cause=preprocessing.title,
        cause_id=preprocessing.cause_id,
        confidence=preprocessing.confidence,
        sentence=preprocessing.sentence,
        fix=preprocessing.fix,
        guesses=(outside, *best.guesses)[:4],
    )


def _weighed(parting: Parting) -> WeighedCause:
    return WeighedCause(
        parting.cause, parting.cause_id, parting.sentence, parting.confidence, parting.layer, parting.fix
    )


def _explained(view: View) -> Parting:
    """The divergence as the view's first model sees it."""
    found, tensors = view.found, view.tensors
    added = only_in_second(view)
    weighed = [
        WeighedCause(guess.title, guess.cause, guess.sentence, guess.confidence, guess.layer, guess.fix)
        for guess in guesses(gathered(view, added))
    ]
    best = weighed[0]
    layer = best.layer if best.layer in found.group else found.layer
    if best.confidence < _TRIED and (extra := _added_to(found, added, tensors)):
        layer = extra
    partner = view.matched.get(layer, ("", ""))[0] if layer != found.layer else tensors[1].layers[found.pair.b]
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


def _exchanged(parting: Parting, mine: Parting, view: View) -> Parting:
    """What the other model's view tells, in the layers and the order of the view that is the user's."""
    layers = {b: a for a, (b, _) in view.matched.items()}

    def told(one: WeighedCause) -> WeighedCause:
        return replace(
            one,
            sentence=in_other_order(one.sentence),
            fix=in_other_order(one.fix),
            layer=layers.get(one.layer, mine.layer),
        )

    best = told(_weighed(parting))
    return replace(
        mine,
        a=best.layer,
        b=parting.a,
        layer=best.layer,
        cause=best.cause,
        cause_id=best.cause_id,
        confidence=best.confidence,
        sentence=best.sentence,
        fix=best.fix,
        guesses=tuple(told(one) for one in parting.guesses),
    )


_OTHER = {"first": "second", "second": "first"}


def in_other_order(text: str) -> str:
    """A sentence of a cause where the two models are given in the other order: causes say "the first model" and "the second model"."""
    return re.sub(r"\b(first|second)(?= model\b)", lambda found: _OTHER[found.group()], text)


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


_WORST = 12


def worst_rows(
    left: Feed,
    right: Feed,
    outputs: Sequence[OutputPair],
    places: npt.NDArray[np.int64],
    described: Sequence[Mapping[str, Any]],
) -> tuple[WorstRow, ...]:
    """The rows whose answers differ most, with both answers where they are few."""
    rows = len(places)
    total = np.zeros(rows)
    for output in outputs:
        a, b = left[output.a], right[output.b]
        if a.dtype.kind not in "fiub" or a.ndim == 0 or len(a) != rows:
            continue
        turned = orient(a, b)
        if turned is not None:
            gap = np.abs(a.astype(np.float64) - turned[1].astype(np.float64)).reshape(rows, -1)
            total = np.maximum(total, np.nan_to_num(gap, nan=np.inf, posinf=np.inf).max(axis=1, initial=0.0))
    a, b = left[outputs[0].a], right[outputs[0].b]
    of_classes = a.ndim == 2 and a.dtype.kind == "f" and a.shape == b.shape
    worst = []
    for place in np.argsort(-total, kind="stable")[:_WORST]:
        if total[place] <= 0:
            break
        row = WorstRow(int(places[place]), finite_or_none(float(total[place])))
        if place < len(described):
            row = replace(row, name=described[place]["name"], label=described[place]["label"])
        if of_classes:
            row = replace(
                row,
                top_a=int(np.argmax(a[place])),
                top_b=int(np.argmax(b[place])),
                value_a=float(np.max(a[place])),
                value_b=float(np.max(b[place])),
            )
        worst.append(row)
    return tuple(worst)


def shapes(feed: Feed) -> str:
    """Names and shapes in words, of the first few."""
    return ", ".join(f"{name} {list(array.shape)}" for name, array in list(feed.items())[:4])


def summary(compared: Comparison, a: str, b: str) -> str:
    """How right both are, where labels say so, and the verdict.

    Args:
        compared: the answer so far.
        a: the first model's name.
        b: the second's.
    """
    said = _summary(compared, a, b)
    return said if compared.labels is None else f"{scores_in_words(compared.labels)} {said}"


def _summary(compared: Comparison, a: str, b: str) -> str:
    largest = largest_of([output.max_abs_diff for output in compared.outputs])
    far = "by values that are no numbers" if largest is None else f"by at most {largest:.2g}"
    same = compared.top1_agreement
    agreed = "" if same is None else f"; the same class in {same:.1%} of {compared.rows} rows"
    if compared.verdict == "equal":
        return f"{b} answers as {a} does, to the bit, on {compared.rows} rows."
    if compared.verdict == "within_tolerance":
        return f"{b} answers as {a} does: off {far}, within what {compared.tolerance.precision} makes of it{agreed}."
    return f"{b} answers otherwise than {a}: off {far}{agreed}."


def sentence(compared: Comparison) -> str:
    """The summary, and where they part and why."""
    parting = compared.first_divergence
    if compared.verdict == "within_tolerance" and parting is not None:
        return f"{compared.summary} But a range is too narrow: {parting.sentence}"
    if compared.verdict != "different":
        return compared.summary
    if parting is None:
        return f"{compared.summary} No single layer explains it."
    return f"{compared.summary} They part at {parting.layer}: {parting.sentence}"
