"""Input times gradient: the share of each part in a straight line through the sample."""

from __future__ import annotations

import numpy as np

from stethoscope.activations.attributions.method import (
    Attribution,
    InputKind,
    Question,
    Report,
    Subject,
    folded,
    slope_at_input,
)


class InputTimesGradient:
    """input × d score / d input; at the embedding for tokens. Exact for a linear model."""

    id = "input_times_gradient"
    title = "Input × gradient"
    place = 30
    about = "What each place would add to the score if the model were a straight line from zero through this sample."
    source = "Shrikumar et al., Not Just a Black Box (2016), arXiv:1605.01713"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`."""
        points, slope = slope_at_input(subject, question)
        shares = {
            point: slope.gradients[point][0].astype(np.float64) * slope.values[point][0].astype(np.float64)
            for point in points
        }
        report(1.0, "")
        return Attribution(folded(question, shares), float(slope.scores[0]), raw=subject.is_raw(question.target))


METHOD = InputTimesGradient()
