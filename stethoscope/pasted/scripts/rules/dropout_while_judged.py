"""Dropout stays on where a graph is judged.

Why: in a graph of TensorFlow 1 the share that is kept is fed. Fed below 1 with the test rows, the score is that of a network with holes.
Example: `sess.run(accuracy, feed_dict={x: x_test, y: y_test, keep_prob: 0.5})`.
Fix: `keep_prob: 1.0`.
Source: tensorflow.org/api_docs/python/tf/compat/v1/nn/dropout; Srivastava et al. (JMLR 2014), section 4.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_KEPT = re.compile(r"keep", re.IGNORECASE)
_JUDGED = re.compile(r"test|valid|(?:^|_)val(?:_|$)", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    for fed in facts.nodes(ast.Dict):
        keys = [(ast.unparse(key), value) for key, value in zip(fed.keys, fed.values, strict=True) if key is not None]
        kept = next((value for key, value in keys if _KEPT.search(key)), None)
        if not isinstance(kept, ast.Constant) or not isinstance(kept.value, int | float) or not 0 < kept.value < 1:
            continue
        if not any(_JUDGED.search(ast.unparse(value)) for _, value in keys):
            continue
        yield facts.finding(
            kept.lineno,
            Fault.REGULARISATION,
            Severity.HIGH,
            0.9,
            f"Only {kept.value:g} of the units are kept while the test rows are judged.",
            "Keep all: 1.0.",
            [facts.spans.replace(kept, "1.0")],
        )


RULE = Rule(_run)
