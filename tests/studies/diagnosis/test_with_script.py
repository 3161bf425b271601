"""Findings of a model and of its script: one card for each cause."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.checks.findings import Excerpt, Fault, Finding, Proof, Severity, Symptom
from stethoscope.pasted.scripts.review import review
from stethoscope.studies.diagnosis.with_script import together
from tests.pasted.scripts.specimens import label_encoding, removed_argument

LABELS = review(label_encoding.FAULTY.encode(), "train.py").findings
GONE = review(removed_argument.FAULTY.encode(), "train.py").findings
OF_MODEL = Finding(Fault.LABELS, Severity.HIGH, 0.8, "loss", "…", check_id="label-encoding")


def test_one_cause_is_one_card_with_the_line_and_the_patch_in_it():
    (card,) = together([OF_MODEL], LABELS)
    assert (card.check_id, card.severity) == ("label-encoding", Severity.CRITICAL)
    assert [item.check_id for item in card.evidence if isinstance(item, Symptom)] == ["script-label-encoding"]
    assert [item.language for item in card.evidence if isinstance(item, Excerpt)] == ["python", "diff"]


def test_what_was_proven_keeps_its_severity():
    proven = replace(OF_MODEL, severity=Severity.LOW, proof=Proof("no_difference", "…"))
    assert together([proven], LABELS)[0].severity is Severity.LOW


def test_other_causes_keep_cards_of_their_own_gravest_first():
    cards = together([replace(OF_MODEL, severity=Severity.MEDIUM)], GONE)
    assert [card.check_id for card in cards] == ["script-removed-argument", "label-encoding"]
