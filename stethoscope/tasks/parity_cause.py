"""Why two models part where they do: the place is gathered as a case, other preprocessing is tried, weights are read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.layer_changes import changes
from stethoscope.architecture.matching import is_across
from stethoscope.errors import StethoscopeError
from stethoscope.parity.array_difference import array_difference
from stethoscope.parity.causes import guesses
from stethoscope.parity.causes.case import Case, SettingChange, WeightPair
from stethoscope.parity.first_divergence import Divergence
from stethoscope.parity.layer_pairs import TensorPair, turned
from stethoscope.parity.layer_tensors import LayerTensors
from stethoscope.parity.orientation import orient
from stethoscope.tasks.parity_side import Side
from stethoscope.types import Feed
from stethoscope.weights.stored import StoredWeight, opened

_MOST_VALUES = 16 << 20
"""Of a weight that is read for comparing, and of an array that a cause looks at."""
_SAME, _MOST_ADDED = 1e-4, 12
_EXPLAINED = 0.05
"""A change of the input counts when it leaves no more than this share of the difference."""


class Turns(Protocol):
    """The first model's rows as the second takes them."""

    def feed(self, feed: Feed) -> Feed:
        """The feed of the second."""
        ...


def explain(
    found: Divergence,
    first: Side,
    second: Side,
    tensors: tuple[LayerTensors, LayerTensors],
    pairs: Mapping[str, TensorPair],
    feed: Feed,
    matched: Mapping[str, tuple[str, Literal["name", "structure"]]],
    preprocessing: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The divergence as JSON: where, the likeliest cause, and the others that were weighed.

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
    case = _case(found, first, second, tensors, pairs, feed, matched)
    weighed = guesses(case)
    told = [asdict(one) | {"cause_id": one.cause, "cause": one.title} for one in weighed]
    if preprocessing is not None:
        told.insert(
            0,
            {
                "cause": preprocessing["title"],
                "cause_id": preprocessing["cause_id"],
                "sentence": preprocessing["sentence"],
                "confidence": preprocessing["confidence"],
                "layer": found.layer,
                "fix": preprocessing["fix"],
            },
        )
    best = told[0]
    layer = best["layer"] if best["layer"] in found.group else found.layer
    if preprocessing is not None:
        layer = found.group[0]
    if best["confidence"] < _TRIED and (extra := _added_to(found, first, second, tensors[1], pairs)):
        layer = extra
    partner = matched.get(layer, ("", ""))[0] if layer != found.layer else tensors[1].layers[found.pair.b]
    return {
        "a": layer,
        "b": partner or tensors[1].layers[found.pair.b],
        "layer": layer,
        "seen_at": {"a": found.layer, "b": tensors[1].layers[found.pair.b]},
        "group": list(found.group),
        "cause": best["cause"],
        "cause_id": best["cause_id"],
        "confidence": float(best["confidence"]),
        "sentence": best["sentence"],
        "fix": best["fix"],
        "nrmse": found.pair.difference.to_json()["nrmse"],
        "guesses": [
            {key: one[key] for key in ("cause", "cause_id", "sentence", "confidence", "layer", "fix")}
            for one in told[1:5]
        ],
    }


_TRIED = 0.97
"""So sure we are only of what was tried on the layer's own input."""


def _added_to(
    found: Divergence, first: Side, second: Side, others: LayerTensors, pairs: Mapping[str, TensorPair]
) -> str:
    """The layer that goes into the group and whose name an operator carries that only the second model has after it; "" without one.

    The layer's own operator is the same in both: what was added to it (a bound, a second activation) is not.
    """
    taken = {others.layers[pair.b] for pair in pairs.values() if pair.difference.nrmse < _SAME}
    names = {path.rsplit("/", 1)[-1]: path for path in found.known}
    waiting = list(second.layer(others.layers[found.pair.b]).inputs)
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_ADDED:
        path = waiting.pop()
        if path in seen or path in taken:
            continue
        seen.add(path)
        for part in re.split(r"[/;:]+", path):
            for name in (part, re.sub(r"_\d+$", "", part)):
                if name in names:
                    return names[name]
        waiting.extend(second.layer(path).inputs)
    return ""


def _case(
    found: Divergence,
    first: Side,
    second: Side,
    tensors: tuple[LayerTensors, LayerTensors],
    pairs: Mapping[str, TensorPair],
    feed: Feed,
    matched: Mapping[str, tuple[str, Literal["name", "structure"]]],
) -> Case:
    a, b = turned(found.pair, *tensors)
    layer = first.layer(found.layer)
    channel = 1 if first.channels_first and a.ndim > 2 else -1
    again = None
    partner = tensors[1].layers[found.pair.b]
    with suppress(StethoscopeError):
        seen = second.seen(feed, [partner]).get(found.pair.b)
        if seen is not None:
            again = found.pair.orientation.apply(np.asarray(seen, np.float64), a.shape)
    inputs = [tensors[0].read(key) for path in found.known for key in tensors[0].keys_of(path)[:1]]
    group = tuple(first.layer(path) for path in found.group)
    return Case(
        _finite(a),
        _finite(b),
        layer,
        group,
        tuple(_finite(one) for one in inputs if one.size <= _MOST_VALUES),
        {
            path: _finite(tensors[0].read(key))
            for path in (*found.known, *found.group)
            for key in tensors[0].keys_of(path)[:1]
            if tensors[0].moments[key].count <= _MOST_VALUES
        },
        channel,
        _settings(found, first, second, matched, partner),
        _weights(found, first, second, matched, partner),
        None if again is None else _finite(again),
        tensors[1].quantised.get(found.pair.b),
        tensors[1].steps.get(found.pair.b),
    )


def _finite(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.nan_to_num(np.asarray(array, np.float64), nan=0.0, posinf=3e38, neginf=-3e38)


def _settings(
    found: Divergence, first: Side, second: Side, matched: Mapping[str, tuple[str, str]], partner: str
) -> tuple[SettingChange, ...]:
    if is_across(first.architecture, second.architecture):
        return ()
    partners = {a: b for a, (b, _) in matched.items()}
    told = []
    for path in reversed(found.group):
        other = partners.get(path) or (partner if path == found.layer else "")
        if not other:
            continue
        for change in changes(first.layer(path), second.layer(other), partners, across=False):
            if change.what in ("config", "type"):
                told.append(SettingChange(path, change.field, change.a, change.b))
    return tuple(told)


def _weights(
    found: Divergence, first: Side, second: Side, matched: Mapping[str, tuple[str, str]], partner: str
) -> tuple[WeightPair, ...]:
    """The tensors of the group's layers beside those of the second model's, in whatever file they are."""
    told: list[WeightPair] = []
    with ExitStack() as stack:
        held = []
        for side in (first, second):
            try:
                held.append(stack.enter_context(opened(side.file)))
            except StethoscopeError:
                return ()
        for path in found.group:
            mine = [one for one in held[0].get(path, ()) if not one.unreadable and one.count <= _MOST_VALUES]
            other = matched.get(path, ("", ""))[0] or (partner if path == found.layer else "")
            theirs = [one for one in held[1].get(other, ()) if not one.unreadable and one.count <= _MOST_VALUES]
            for one in mine:
                counterpart = _counterpart(one, theirs)
                if counterpart is not None:
                    theirs.remove(counterpart)
                told.append(WeightPair(path, one.name, _read(one), None if counterpart is None else _read(counterpart)))
    return tuple(told)


def _counterpart(one: StoredWeight, others: Sequence[StoredWeight]) -> StoredWeight | None:
    def short(weight: StoredWeight) -> list[int]:
        return [size for size in weight.shape if size != 1]

    named = [other for other in others if other.name == one.name and other.count == one.count]
    alike = [other for other in others if other.shape == one.shape]
    turned_ones = [other for other in others if sorted(short(other)) == sorted(short(one))]
    return next(iter([*named, *alike, *turned_ones]), None)


def _read(weight: StoredWeight) -> npt.NDArray[Any]:
    return np.concatenate([piece.reshape(-1) for piece in weight.pieces()] or [np.zeros(0)]).reshape(weight.shape)


_CUT = 0.01
"""Share of an input's values beyond its range that makes a difference of its own."""


def cut_off(clipped: Mapping[str, tuple[float, float, float]], name: str) -> dict[str, Any] | None:
    """What quantised inputs of a model cut off, told as `tried_inputs` does; None where it is little."""
    worst = max(clipped, key=lambda one: clipped[one][2], default=None)
    if worst is None or clipped[worst][2] < _CUT:
        return None
    low, high, share = clipped[worst]
    return {
        "id": "clipped-input",
        "cause_id": "clipped-range",
        "title": "The input's range is clipped",
        "sentence": f"Input {worst!r} of {name} holds {low:.4g} to {high:.4g}; {share:.0%} of these values lie beyond and are cut off.",
        "fix": "Compare with rows like those of use, or quantise again with rows like these.",
        "confidence": 0.9,
        "explains": None,
    }


def tried_inputs(
    second: Side, turns: Turns, feed: Feed, left: Feed, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The change of the input with which the second model answers as the first does; None where none of the usual ones does.

    Returns:
        {"id", "title", "sentence", "fix", "confidence", "explains"}.
    """
    pictures = {name: array for name, array in feed.items() if array.dtype.kind == "f" and array.ndim >= 2}
    if not pictures or not outputs:
        return None
    compared = [(one["a"], one["b"]) for one in outputs if left[one["a"]].dtype.kind == "f"]
    before = _apart(second, turns.feed(feed), left, compared)
    if not compared or before is None or before == 0:
        return None
    best: tuple[float, str, str] | None = None
    for key, said, change in _CHANGES:
        if not all(_applies(key, array) for array in pictures.values()):
            continue
        changed = feed | {name: change(array).astype(array.dtype) for name, array in pictures.items()}
        try:
            apart = _apart(second, turns.feed(changed), left, compared)
        except StethoscopeError:
            continue
        if apart is not None and apart <= _EXPLAINED * before and (best is None or apart < best[0]):
            best = (apart, key, said)
    if best is None:
        return None
    explains = 1 - best[0] / before
    return {
        "id": best[1],
        "cause_id": "preprocessing",
        "title": "Preprocessing inside or outside the model",
        "sentence": f"Given {best[2]}, the second model answers as the first does ({explains:.1%} of the difference is gone).",
        "fix": f"Feed the second model {best[2]}, or put that step into both.",
        "confidence": 0.98,
        "explains": explains,
    }


def _apart(second: Side, feed: Feed, left: Feed, compared: Sequence[tuple[str, str]]) -> float | None:
    found = second.outputs(feed)
    total = 0.0
    for a, b in compared:
        if b not in found:
            return None
        turned_one = orient(left[a], found[b])
        if turned_one is None:
            return None
        off = array_difference(left[a], turned_one[1]).nrmse
        if not math.isfinite(off):
            return None
        total += off
    return total


def _applies(key: str, array: npt.NDArray[Any]) -> bool:
    if key == "channels":
        return array.ndim == 4 and array.shape[-1] == 3
    if key == "channels-first":
        return array.ndim == 4 and array.shape[1] == 3
    return True


_CHANGES: tuple[tuple[str, str, Any], ...] = (
    ("channels", "its channels in reverse order (BGR for RGB)", lambda x: x[..., ::-1]),
    ("channels-first", "its channels in reverse order (BGR for RGB)", lambda x: x[:, ::-1]),
    ("divided", "its input divided by 255", lambda x: x / 255),
    ("times", "its input times 255", lambda x: x * 255),
    ("to-plus-minus", "its input divided by 127.5, less 1", lambda x: x / 127.5 - 1),
    ("from-plus-minus", "its input plus 1, times 127.5", lambda x: (x + 1) * 127.5),
    ("doubled", "twice its input, less 1", lambda x: 2 * x - 1),
    ("halved", "its input plus 1, divided by 2", lambda x: (x + 1) / 2),
    ("negative", "its input with the sign turned", lambda x: -x),
    ("inverted", "1 less its input", lambda x: 1 - x),
)
