"""How the outputs of two models differ, on which rows most, and the verdict in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.parity.array_difference import array_difference, decided_agreement, top_agreement
from stethoscope.parity.orientation import orient
from stethoscope.parity.precision import Tolerance
from stethoscope.types import Feed

_WORST = 12
_UNDECIDED = 1 / 3
"""Of the tolerance: a class that is preferred by less may turn into another by rounding alone."""


def compared(
    a: str, b: str, left: npt.NDArray[Any], right: npt.NDArray[Any], limits: Tolerance
) -> dict[str, Any] | None:
    """One output beside its counterpart, as the task `compare` tells it; None where their sizes differ."""
    told: dict[str, Any] = {"a": a, "b": b, "shape": list(left.shape), "orientation": ""}
    if left.dtype.kind not in "fiub" or right.dtype.kind not in "fiub":
        if left.shape != right.shape:
            return None
        same = float(np.mean(left.astype(str) == right.astype(str))) if left.size else 1.0
        gap = 1.0 - same
        return told | _no_numbers(gap)
    turned = orient(left, right)
    if turned is None:
        return None
    told["orientation"] = turned[0].said()
    found = array_difference(left, turned[1])
    top1, top5 = top_agreement(left, turned[1]), top_agreement(left, turned[1], 5)
    near = found.nrmse <= limits.nrmse or found.max_abs <= 1e-6
    decided = decided_agreement(left, turned[1], _UNDECIDED * limits.nrmse)
    classes = limits.top1 is None or decided is None or decided >= limits.top1
    said = found.to_json()
    return told | {
        "max_abs_diff": said["max_abs"],
        "mean_abs_diff": said["mean_abs"],
        "max_rel_diff": said["max_rel"],
        "nrmse": said["nrmse"],
        "cosine": found.cosine,
        "sqnr_db": found.sqnr_db,
        "top1_agreement": top1,
        "top5_agreement": top5,
        "nonfinite": found.nonfinite,
        "equal": found.max_abs == 0,
        "within": bool(near and classes and not found.nonfinite),
    }


def _no_numbers(gap: float) -> dict[str, Any]:
    return {
        "max_abs_diff": gap, "mean_abs_diff": gap, "max_rel_diff": gap, "nrmse": gap, "cosine": None, "sqnr_db": None, "top1_agreement": None,
        "top5_agreement": None, "nonfinite": 0, "equal": gap == 0, "within": gap == 0,
    }  # fmt: skip


def verdict_of(outputs: Sequence[Mapping[str, Any]]) -> str:
    """ "equal", "within_tolerance" or "different"."""
    if all(one["equal"] for one in outputs):
        return "equal"
    return "within_tolerance" if all(one["within"] for one in outputs) else "different"


def worst_rows(
    left: Feed,
    right: Feed,
    outputs: Sequence[Mapping[str, Any]],
    places: npt.NDArray[np.int64],
    described: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The rows whose answers differ most, with both answers where they are few."""
    rows = len(places)
    total = np.zeros(rows)
    for one in outputs:
        a, b = left[one["a"]], right[one["b"]]
        if a.dtype.kind not in "fiub" or a.ndim == 0 or len(a) != rows:
            continue
        turned = orient(a, b)
        if turned is not None:
            gap = np.abs(a.astype(np.float64) - turned[1].astype(np.float64)).reshape(rows, -1)
            total = np.maximum(total, np.nan_to_num(gap, nan=np.inf, posinf=np.inf).max(axis=1, initial=0.0))
    found = []
    for place in np.argsort(-total, kind="stable")[:_WORST]:
        if total[place] <= 0:
            break
        told: dict[str, Any] = {
            "place": int(places[place]),
            "max_abs_diff": float(total[place]) if np.isfinite(total[place]) else None,
        }
        if place < len(described):
            told |= {"name": described[place]["name"], "label": described[place]["label"]}
        one = outputs[0]
        a, b = left[one["a"]], right[one["b"]]
        if a.ndim == 2 and a.dtype.kind == "f" and a.shape == b.shape:
            told |= {"top_a": int(np.argmax(a[place])), "top_b": int(np.argmax(b[place]))}
            told |= {"value_a": float(np.max(a[place])), "value_b": float(np.max(b[place]))}
        found.append(told)
    return found


def shapes(feed: Feed) -> str:
    """Names and shapes in words, of the first few."""
    return ", ".join(f"{name} {list(array.shape)}" for name, array in list(feed.items())[:4])


def sentence(value: Mapping[str, Any], a: str, b: str) -> str:
    """The verdict in words.

    Args:
        value: the answer so far.
        a: the first model's name.
        b: the second's.
    """
    biggest = [one["max_abs_diff"] for one in value["outputs"]]
    far = "by values that are no numbers" if None in biggest else f"by at most {max(biggest):.2g}"
    agreed = (
        ""
        if value["top1_agreement"] is None
        else f"; the same class in {value['top1_agreement']:.1%} of {value['rows']} rows"
    )
    if value["verdict"] == "equal":
        return f"{b} answers as {a} does, to the bit, on {value['rows']} rows."
    if value["verdict"] == "within_tolerance":
        cut = f" But a range is too narrow: {found['sentence']}" if (found := value["first_divergence"]) else ""
        return f"{b} answers as {a} does: off {far}, within what {value['tolerance']['precision']} makes of it{agreed}.{cut}"
    found = value["first_divergence"]
    where = f" They part at {found['layer']}: {found['sentence']}" if found else " No single layer explains it."
    return f"{b} answers otherwise than {a}: off {far}{agreed}.{where}"
