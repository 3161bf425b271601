from __future__ import annotations

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.types import Architecture, Status

FINDING = Finding(Fault.LOSS, Severity.HIGH, 0.9, "loss", "The loss is wrong.")
MODEL = Architecture("keras", "", 0, 0, (), (), ())


def finds(_evidence):
    yield FINDING


def finds_and_breaks(_evidence):
    yield FINDING
    raise ZeroDivisionError("division by zero")


def check(check_id: str, run, *needs: Evidence) -> Check:
    return Check(run, frozenset(needs), id=check_id, title=f"Title of {check_id}")


def test_a_check_that_breaks_keeps_what_it_found_and_leaves_the_others_alone():
    broken, sound = examine(EvidenceSet(), [check("broken", finds_and_breaks), check("sound", finds)])
    assert broken.status is Status.FAILED
    assert "division by zero" in broken.reason
    assert [item.message for item in broken.findings] == [FINDING.message]
    assert sound.status is Status.OK


def test_missing_evidence_is_skipped_with_the_reason_and_never_passed():
    needy = check("needy", finds, Evidence.DATA)
    (outcome,) = examine(EvidenceSet(missing={Evidence.DATA: "no data"}), [needy])
    assert (outcome.status, outcome.reason, outcome.findings) == (Status.SKIPPED, "no data", ())


def test_a_finding_carries_its_checks_id_and_title():
    (outcome,) = examine(EvidenceSet(architecture=MODEL), [check("named", finds, Evidence.ARCHITECTURE)])
    assert (outcome.findings[0].check_id, outcome.findings[0].title) == ("named", "Title of named")
