"""The gradient itself: where a small change of the input would change the score most."""

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


class Saliency:
    """d score / d input. For tokens, the length of the gradient at the embedding."""

    id = "saliency"
    title = "Gradient"
    place = 20
    about = "How much the score would change with a small change at each place; not how much each place adds to it."
    source = "Simonyan, Vedaldi and Zisserman, Deep Inside Convolutional Networks (2013), arXiv:1312.6034"
    needs_gradients = True
    kinds: tuple[InputKind, ...] = ("image", "features", "tokens", "sequence")

    def explain(self, subject: Subject, question: Question, report: Report) -> Attribution:
        """See `Method.explain`."""
        points, slope = slope_at_input(subject, question)
        rows = {point: slope.gradients[point][0].astype(np.float64) for point in points}
        wanted = question.row.shape[1:]
        lengths = any(row.shape != wanted for row in rows.values())
        if lengths:
            values = np.sqrt(folded(question, {point: row**2 for point, row in rows.items()}))
        else:
            values = folded(question, rows)
        report(1.0, "")
        return Attribution(
            values,
            float(slope.scores[0]),
            raw=subject.is_raw(question.target),
            signed=not lengths,
            notes=("The length of the gradient at each token's embedding.",) if lengths else (),
        )


METHOD = Saliency()
