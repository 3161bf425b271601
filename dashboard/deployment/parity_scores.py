"""Which of two compared models is right more often, and what a first call of each took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard import cards, escape, words


def show(value: Mapping[str, Any], a: str, b: str) -> None:
    """Which is right more often, and how long each took.

    Args:
        value: of the task `compare`.
        a: the first model's name. Hostile.
        b: the other's. Hostile.
    """
    facts: list[tuple[str, str, str]] = []
    found = value.get("labels")
    if found:
        accuracy = found["metric"] == "accuracy"
        metric = str(found["metric"]).capitalize()
        facts += [
            (f"{metric}, {escape.markdown(name, 40)}", _score(found[key], accuracy), "")
            for key, name in (("a", a), ("b", b))
        ]
        facts.append(
            ("Change", change(found), f"95 % interval {interval(found)}, on {words.plural(int(found['rows']), 'row')}")
        )
        if found.get("only_a_right") is not None:
            facts.append(("Only one is right", f"{int(found['only_a_right']):,} against {int(found['only_b_right']):,}", "rows, the first against the other"))  # fmt: skip
    times = value.get("time_s") or {}
    rows = int(value.get("rows") or 0)
    for key, name in (("a", a), ("b", b)):
        if times.get(key) is not None:
            facts.append(
                (
                    f"Time, {escape.markdown(name, 40)}",
                    words.duration(float(times[key])),
                    f"first call on {words.plural(rows, 'row')}, set-up included",
                )
            )
    if facts:
        cards.facts(facts)


def change(found: Mapping[str, Any]) -> str:
    """The change of a score with its sign, in points where it is a share."""
    return _signed(float(found["change"]), found["metric"] == "accuracy")


def interval(found: Mapping[str, Any]) -> str:
    """The interval of that change."""
    share = found["metric"] == "accuracy"
    low, high = found.get("low"), found.get("high")
    return (
        "not known" if low is None or high is None else f"{_signed(float(low), share)} to {_signed(float(high), share)}"
    )


def _signed(value: float, share: bool) -> str:
    number = 100 * value if share else value
    text = words.significant(abs(number)) if number else "0"
    return f"{'−' if number < 0 else '+' if number > 0 else '±'}{text}{' points' if share else ''}"


def _score(value: float, share: bool) -> str:
    return words.share(float(value), 1) if share else words.significant(float(value))
