"""From the answer of the consistency job to `BehaviourEvidence`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.codec import decode
from stethoscope.evidence.behaviour import BehaviourEvidence

_FIELDS = ("id", "name", "passed", "detail", "max_abs_diff", "layer", "reason", "values", "noted")


def behaviour_from(value: Mapping[str, Any]) -> BehaviourEvidence:
    """Reads the `consistency` shape of the command line.

    Raises:
        StethoscopeError: it does not have that shape.
    """
    settings = value.get("settings")
    source = str(settings.get("input", "")) if isinstance(settings, Mapping) else ""
    tests = value.get("tests")
    return decode(
        BehaviourEvidence,
        {
            "consistent": value.get("consistent"),
            "tests": [_test(test) for test in tests] if isinstance(tests, list) else tests,
            "source": "random input" if source in ("", "dummy") else "data",
        },
    )


def _test(test: Any) -> Any:
    if not isinstance(test, Mapping):
        return test
    kept = {key: test[key] for key in _FIELDS if key in test}
    return {**kept, "layer": kept.get("layer") or "", "values": kept.get("values") or {}}
