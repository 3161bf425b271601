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
    change = f"{100 * score.change:+.1f} points" if share else f"{score.change:+.3g}"
    ends = (
        f"{100 * score.low:+.1f} … {100 * score.high:+.1f} points" if share else f"{score.low:+.3g} … {score.high:+.3g}"
    )
    return [
        *(
            (
                f"{name}, {when}",
                _value(side.value, share),
                f"95 % {_value(side.low, share)} … {_value(side.high, share)}, {words.plural(side.rows, 'row')}",
            )
            for side, when in ((score.reference, "then"), (score.current, "now"))
        ),
        ("Change", change, f"95 % {ends}"),
    ]


def _value(value: float, share: bool) -> str:
    return words.share(value, 1) if share else words.significant(value)
