"""Lines of Python 2.

Why: TensorFlow 2 runs on Python 3 alone; these lines are a SyntaxError there, before anything else happens.
Example: `print "loss", loss`; `except IOError, e:`.
Fix: the same in Python 3.
Source: docs.python.org/3/whatsnew/3.0.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    for old in facts.parsed.python2:
        yield facts.finding(
            old.line,
            Fault.DEPLOYMENT,
            Severity.HIGH,
            0.97,
            f"This is Python 2 ({old.what}), a SyntaxError today.",
            "Write it for Python 3.",
            (),
            old.now.strip(),
        )


RULE = Rule(_run)
