"""How right predictions are on both sides of a comparison, as facts."""

from __future__ import annotations

from dashboard import words
from stethoscope.drift.scores import ScoreChange


def facts(score: ScoreChange | None) -> list[tuple[str, str, str]]:
    """(label, value, what else is known) of the score then, now, and what changed; nothing without a score."""
    if score is None:
        return []
    share = "error" not in score.measure
    whose = {"model": "", "log": "", "simple model": ", a simple model"}[score.by]
    name = score.measure.capitalize() + whose
    low, high = (_moved(end, share) for end in (score.low, score.high))
    return [
        *(
            (
                f"{name}, {when}",
                _value(side.value, share),
                f"95 % {_value(side.low, share)} … {_value(side.high, share)}, {words.plural(side.rows, 'row')}",
            )
            for side, when in ((score.reference, "then"), (score.current, "now"))
        ),
        ("Change", f"{_moved(score.change, share)}{' points' if share else ''}", f"95 % {low} … {high}"),
    ]


def _moved(value: float, share: bool) -> str:
    """With its sign; in points where it is a share."""
    number = round(100 * value, 1) + 0.0 if share else value
    text = f"{abs(number):.1f}" if share else words.significant(abs(number))
    return f"{'−' if number < 0 else '+'}{text}"


def _value(value: float, share: bool) -> str:
    return words.share(value, 1) if share else words.significant(value)
