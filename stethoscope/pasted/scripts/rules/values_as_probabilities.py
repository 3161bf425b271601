"""Values of actions behind a softmax.

Why: a Q network says what an action is worth, any number. Softmax makes it a share between 0 and 1 that sums to 1: returns beyond 1 cannot be
said, and one value cannot rise alone.
Example: `q_net = Sequential([…, Dense(n_actions, activation="softmax")])`.
Fix: no activation at the last layer.
Source: Mnih et al. (Nature 2015), "Model architecture": a fully-connected linear layer with an output for each action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.architecture.activations import PROBABILITIES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_VALUES = re.compile(r"\b(?:gamma|discount)\w*\b", re.IGNORECASE)
_Q = re.compile(r"\b(?:q_?(?:net|network|model|values?|target)\w*|dqn|ddqn|target_q|next_q)\b", re.IGNORECASE)
_POLICY = re.compile(r"log_?prob|categorical|actor|policy|c51|entropy", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    text = facts.source.text
    if not _VALUES.search(text) or not _Q.search(text) or _POLICY.search(text):
        return
    done: set[int] = set()
    for model in facts.models:
        head = model.head
        if head is None or head.activation not in PROBABILITIES or head.units == 1 or id(head.by.node) in done:
            continue
        done.add(id(head.by.node))
        given = next((one for one in head.by.call_node.keywords if one.arg == "activation"), None)
        yield facts.finding(
            head.by,
            Fault.ACTIVATION,
            Severity.HIGH,
            0.88,
            f"The network says values of actions, and {head.activation} keeps them between 0 and 1.",
            "Leave the activation of the last layer out.",
            [] if given is None else [facts.spans.remove_argument(head.by.call_node, given)],
        )


RULE = Rule(_run, same_as=frozenset({"output-range"}))
