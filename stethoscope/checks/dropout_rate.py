"""Dropout rate too high.

Why: dropout removes that share of a layer's units at every step. With 0.9 a tenth is left: the network that trains is
ten times smaller than the one that was built, and can learn next to nothing.
Example: `Dropout(0.9)`, written by someone who meant to keep 0.9 (the first argument was once the share to keep).
Fix: a rate between 0.1 and 0.5.
Source: Srivastava et al., Dropout (JMLR 2014), section A.4: 0.5 in hidden layers, 0.2 at the input; TensorFlow 1's
`keep_prob`. Threshold: 0.8.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.short_run import helped, listed, weighed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity
from stethoscope.checks.fixes.layer_settings import SetDropoutRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import DROPPING
from stethoscope.types import Layer

HIGH_RATE = 0.8
_USUAL = 0.3


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    rates = {
        layer.path: (layer, float(rate))
        for layer in (evidence.architecture.layers if evidence.architecture else ())
        if layer.type in DROPPING and isinstance(rate := layer.config.get("rate"), int | float) and rate > 0
    }
    high = {path: pair for path, pair in rates.items() if pair[1] >= HIGH_RATE}
    all_of_it = [path for path, (_, rate) in high.items() if rate >= 1]
    if high:
        severity = Severity.CRITICAL if all_of_it else weighed(evidence.training, "no-dropout")
        yield _finding(high, severity, 0.95 if all_of_it else 0.8)
    elif rates and helped(evidence.training, "no-dropout"):
        # Rates in the usual range that this network, on these rows, cannot afford.
        strong = {path: pair for path, pair in rates.items() if pair[1] >= 0.3}
        if strong:
            yield _finding(strong, weighed(evidence.training, "no-dropout"), 0.6)


def _finding(found: dict[str, tuple[Layer, float]], severity: Severity, confidence: float) -> Finding:
    paths = list(found)
    highest = max(rate for _, rate in found.values())
    left = f"{1 - highest:.0%}" if highest < 1 else "nothing"
    shown = f"a dropout rate of {highest:g}" if len(paths) == 1 else f"dropout rates of up to {highest:g}"
    return Finding(
        fault=Fault.REGULARISATION,
        severity=severity,
        confidence=confidence,
        where=paths[0],
        message=(
            f"{listed(paths)}: {shown} leave{'s' if len(paths) == 1 else ''} {left} of the units at each step, too little to "
            f"learn with. The rate is the share to drop; {_USUAL:g} is usual."
        ),
        evidence=(
            Bars(
                "Dropout rates",
                "share of units dropped",
                tuple(paths),
                tuple(rate for _, rate in found.values()),
                (Mark(HIGH_RATE, "too high"),),
            ),
        ),
        fix=SetDropoutRate(layers=tuple(paths), rate=_USUAL, was=highest),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=BADLY_TRAINED | {"loss-oscillating", "train-eval-difference"},
)
