"""How well `compare` told planted faults: layer, cause, and what was not seen."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any


def scored(layer: str, causes: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """How a plant was told: a layer is named by itself, or by an operator whose path carries its name."""
    found = value.get("first_divergence") or {}
    named = str(found.get("a") or "")
    if (
        "__" in named and "/" not in named
    ):  # what tf2onnx folded into a new operator has no name of its own: its partner's tells
        named = str(found.get("b") or "")
    parts = {re.sub(r"(_\d+)+$", "", part) for part in re.split(r"[/;:]+", named)} | set(re.split(r"[/;:]+", named))
    return {
        "verdict": value.get("verdict"),
        "reason": value.get("reason", ""),
        "named": found.get("a"),
        "cause": found.get("cause_id"),
        "seen_at": found.get("seen_at"),
        "group": found.get("group"),
        "confidence": found.get("confidence"),
        "sentence": found.get("sentence"),
        "layer_right": layer in parts,
        "cause_right": found.get("cause_id") in causes,
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares by pairing, by network, and of all."""
    if rows and "alarm" in rows[0]:
        return {
            "pairs": len(rows),
            "alarms": sum(one["alarm"] for one in rows),
            "failed": sum(one["verdict"] is None for one in rows),
        }
    by: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in rows:
        for key in ("all", f"{one['first']} to {one['other']}", one["network"], one["plant"]):
            by[key].append(one)
    return {
        key: {
            "planted": len(some),
            "layer_right": sum(one["layer_right"] for one in some),
            "cause_right": sum(one["cause_right"] for one in some),
            "not_seen": sum(one["verdict"] != "different" for one in some),
            **_exchanged([(one, one["exchanged"]) for one in some if "exchanged" in one]),
        }
        for key, some in by.items()
    }


def _exchanged(both: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, int]:
    """The same with the two files exchanged, and how often it is told as before."""
    return {
        "layer_right_exchanged": sum(one["layer_right"] for _, one in both),
        "cause_right_exchanged": sum(one["cause_right"] for _, one in both),
        "same_verdict": sum(one["verdict"] == other["verdict"] for one, other in both),
        "same_cause": sum(one["cause"] == other["cause"] for one, other in both),
    }
