"""Which of two compared models is right more often, and what a first call of each took."""

from __future__ import annotations

import math

from dashboard import cards, escape, words
from stethoscope.compare.parity.comparison import Comparison, Scores


def show(compared: Comparison, a: str, b: str) -> None:
    """Which is right more often, and how long each took.

    Args:
        compared: the answer.
        a: the first model's name. Hostile.
        b: the other's. Hostile.
    """
    facts: list[tuple[str, str, str]] = []
    scores = compared.labels
    if scores is not None:
        accuracy = scores.metric != "mean absolute error"
        metric = scores.metric.capitalize()
        scored = f"of output {escape.markdown(scores.output, 40)}" if scores.output else ""
        facts += [
            (f"{metric}, {escape.markdown(name, 40)}", _score(score, accuracy), scored)
            for score, name in ((scores.a, a), (scores.b, b))
        ]
        rows = (
            words.plural(scores.rows, "row") if scores.rows >= scores.of else f"{scores.rows:,} of {scores.of:,} rows"
        )
        facts.append(("Change", change(scores), f"95 % interval {interval(scores)}, on {rows}"))
        if scores.only_a_right is not None and scores.only_b_right is not None:
            counts = f"{scores.only_a_right:,} against {scores.only_b_right:,}"
            facts.append(("Only one is right", counts, "rows, the first against the other"))
    extent = f"first call on {words.plural(compared.rows, 'row')}, set-up included"
    facts += [
        (f"Time, {escape.markdown(name, 40)}", words.duration(time_s), extent)
        for time_s, name in ((compared.time_s.a, a), (compared.time_s.b, b))
    ]
    cards.facts(facts)


def change(scores: Scores) -> str:
    """The change of a score with its sign, in points where it is a share."""
    return _signed(scores.change, scores.metric != "mean absolute error")


def interval(scores: Scores) -> str:
    """The interval of that change."""
    share = scores.metric != "mean absolute error"
    if not (math.isfinite(scores.low) and math.isfinite(scores.high)):
        return "not known"
    return f"{_signed(scores.low, share)} to {_signed(scores.high, share)}"


def _signed(value: float, share: bool) -> str:
    number = 100 * value if share else value
    text = words.significant(abs(number)) if number else "0"
    return f"{'−' if number < 0 else '+' if number > 0 else '±'}{text}{' points' if share else ''}"


def _score(value: float, share: bool) -> str:
    return words.share(value, 1) if share else words.significant(value)
