"""`check` as a gate: exit codes, one JSON object, files to send."""

from __future__ import annotations

import json

from sample_models import BUILT

FAULTY = BUILT / "cancer_softmax_one_unit.keras"


def test_a_grave_finding_fails_the_gate_and_is_one_json_object(commands, tmp_path):
    done = commands.run("check", FAULTY, "--json", "--html", tmp_path / "r.html", "--sarif", tmp_path / "r.sarif")
    assert done.returncode == 1, done.stderr
    value = json.loads(done.stdout)
    assert value["schema_version"] == 1
    finding = value["findings"][0]
    assert {
        "check_id",
        "fault",
        "severity",
        "confidence",
        "where",
        "message",
        "evidence",
        "fix",
        "proof",
        "source",
    } <= set(finding)
    assert (finding["check_id"], finding["fault"], finding["severity"]) == (
        "softmax-one-unit",
        "activation",
        "critical",
    )
    assert {"check_id", "status", "reason"} == set(value["outcomes"][0])
    assert "softmax" in (tmp_path / "r.html").read_text()
    assert json.loads((tmp_path / "r.sarif").read_text())["version"] == "2.1.0"


def test_the_gate_opens_below_its_level_and_for_chosen_checks(commands):
    done = commands.run("check", FAULTY, "--only", "dropout-rate")
    assert done.returncode == 0, done.stderr
    assert "No finding" in done.stdout


def test_nonsense_is_one_line_and_exit_code_2(commands, tmp_path):
    for arguments in (
        ("check", FAULTY, "--only", "no-such-check"),
        ("check", FAULTY, "--fail-on", "terrible"),
        ("check", FAULTY, "--fit", "epochs=some"),
        ("check", tmp_path / "absent.keras"),
    ):
        done = commands.run(*arguments)
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert not done.stdout
