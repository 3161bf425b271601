from __future__ import annotations

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Symptom
from stethoscope.checks.judging.examination import ranked


def check(check_id: str, explains: tuple[str, ...] = (), **kind: bool) -> Check:
    return Check(lambda _: iter(()), id=check_id, title=check_id, explains=frozenset(explains), **kind)


def finding(check_id: str, severity: Severity, confidence: float = 0.8, where: str = "") -> Finding:
    return Finding(Fault.ACTIVATION, severity, confidence, where, f"{check_id} happened", check_id)


KNOWN = {
    item.id: item
    for item in (
        check("wrong-head", ("flat", "constant", "beaten")),
        check("beaten", symptom=True, outcome=True),
        check("constant", ("flat",), symptom=True),
        check("flat", ("wrong-head",), symptom=True),
        check("other"),
        check("epochs", setting=True),
    )
}


def ids(findings) -> list[str]:
    return [item.check_id for item in findings]


def test_a_symptom_becomes_evidence_under_its_cause():
    found = ranked([finding("flat", Severity.HIGH), finding("wrong-head", Severity.CRITICAL)], KNOWN)
    assert ids(found) == ["wrong-head"]
    assert found[0].evidence == (Symptom("flat", "flat happened"),)


def test_a_symptom_without_a_cause_stands_for_itself():
    assert ids(ranked([finding("flat", Severity.HIGH), finding("other", Severity.LOW)], KNOWN)) == ["flat", "other"]


def test_a_chain_of_symptoms_ends_under_the_root():
    found = ranked([finding(name, Severity.HIGH) for name in ("flat", "constant", "wrong-head")], KNOWN)
    assert ids(found) == ["wrong-head"]
    assert {item.check_id for item in found[0].evidence} == {"flat", "constant"}


def test_two_checks_that_explain_each_other_leave_one_card():
    found = ranked([finding("flat", Severity.HIGH), finding("wrong-head", Severity.HIGH)], KNOWN)
    assert ids(found) == ["wrong-head"]


def test_what_explains_a_bad_outcome_is_as_severe_as_it():
    cause = finding("wrong-head", Severity.MEDIUM)
    found = ranked([finding("other", Severity.MEDIUM, 0.9), cause, finding("beaten", Severity.HIGH)], KNOWN)
    assert [(item.check_id, item.severity) for item in found] == [
        ("wrong-head", Severity.HIGH),
        ("other", Severity.MEDIUM),
    ]
    assert ranked([cause, finding("beaten", Severity.MEDIUM)], KNOWN)[0].severity is Severity.MEDIUM
    assert ranked([cause, finding("flat", Severity.HIGH)], KNOWN)[0].severity is Severity.MEDIUM


def test_a_weak_cause_explains_nothing():
    found = ranked([finding("flat", Severity.HIGH), finding("wrong-head", Severity.LOW)], KNOWN)
    assert ids(found) == ["flat", "wrong-head"]


def test_the_most_severe_and_most_certain_come_first():
    found = ranked(
        [
            finding("other", Severity.MEDIUM, 0.9),
            finding("wrong-head", Severity.MEDIUM, 0.95),
            finding("other", Severity.CRITICAL, 0.4, "x"),
        ],
        KNOWN,
    )
    assert [(item.check_id, item.where) for item in found] == [("other", "x"), ("wrong-head", ""), ("other", "")]


def test_a_doubtful_setting_is_a_remark_beside_a_grave_cause():
    grave = finding("other", Severity.HIGH)
    found = ranked([finding("epochs", Severity.MEDIUM, 0.6), grave], KNOWN)
    assert [item.severity for item in found] == [Severity.HIGH, Severity.LOW]
    assert "Look again" in found[1].message


def test_a_setting_stands_when_it_is_certain_or_alone_or_beside_a_symptom():
    for others in ([], [finding("flat", Severity.HIGH)], [finding("other", Severity.MEDIUM)]):
        found = ranked([finding("epochs", Severity.MEDIUM, 0.6), *others], KNOWN)
        assert Severity.MEDIUM in [item.severity for item in found if item.check_id == "epochs"]
    found = ranked([finding("epochs", Severity.MEDIUM, 0.9), finding("other", Severity.HIGH)], KNOWN)
    assert found[1].severity is Severity.MEDIUM
