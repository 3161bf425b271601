"""Every check: a page, thresholds with a source, a specimen that raises it first, and a twin on which it stays silent."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Severity
from stethoscope.studies.diagnosis.report import Report
from stethoscope.types import Status
from tests.conftest import ALL, UNTIL_S
from tests.specimen_programs import LIVE, RECORD, SpecimenPrograms, all_programs, all_specimens

CHECKS = all_checks()


@pytest.fixture(scope="session")
def programs(engine, commit, tmp_path_factory) -> SpecimenPrograms:
    """Every specimen and its twin; those that are built are built once for all workers of the run."""
    shared = tmp_path_factory.getbasetemp().parent / "specimens"
    # A run that ends after a minute has no time for those that are built.
    return SpecimenPrograms(shared, engine, commit, live=len(all_programs()) if ALL else 0 if UNTIL_S else LIVE)


def told(report: Report) -> str:
    return "\n".join(
        f"{finding.severity.label} {finding.check_id} at {finding.where}: {finding.message}"
        for finding in report.findings
    ) + "".join(f"\n{stage.id}: {stage.status} {stage.reason}" for stage in report.stages if stage.reason)


def test_a_check_explains_itself():
    wrong = []
    for check_id, check in CHECKS.items():
        module = importlib.import_module(f"stethoscope.checks.{check_id.replace('-', '_')}")
        title = check.page.splitlines()[0].rstrip(".")
        parts = [part for part in ("Why:", "Example:", "Fix:", "Source:") if f"\n{part}" not in check.page]
        if module.CHECK is not check or not title or len(title) >= 90 or parts:
            wrong.append((check_id, title, parts))
        if check.explains - set(CHECKS) or not (check.needs or check.needs_any):
            wrong.append((check_id, check.explains - set(CHECKS), check.needs))
    assert not wrong


def test_every_specimen_belongs_to_a_check():
    assert set(all_specimens()) == set(CHECKS)


@pytest.mark.parametrize("check_id", CHECKS)
def test_its_specimen_raises_it_first(programs, check_id):
    report = programs.diagnose(f"{check_id}/faulty")
    assert report.status is Status.OK, report.reason
    assert report.findings, told(report)
    assert report.findings[0].check_id == check_id, told(report)
    assert not [outcome for outcome in report.outcomes if outcome.status is Status.FAILED]


@pytest.mark.parametrize("check_id", CHECKS)
def test_it_stays_silent_on_the_healthy_twin(programs, check_id):
    report = programs.diagnose(f"{check_id}/healthy")
    assert report.status is Status.OK, report.reason
    assert check_id not in [finding.check_id for finding in report.findings], told(report)
    assert not report.at_or_above(Severity.HIGH), told(report)


def test_what_was_recorded_is_of_all_programs_and_some_are_always_diagnosed_from_the_start(programs):
    assert RECORD.exists(), "run: make record"
    assert set(programs.live) <= set(all_programs())
    assert len(programs.live) >= LIVE or UNTIL_S


def test_arrays_of_specimens_are_plain(programs):
    assert programs.arrays() or not programs.live
    for path in programs.arrays():
        with np.load(path, allow_pickle=False) as arrays:
            assert arrays.files


def test_the_catalogue_of_checks_is_up_to_date():
    from tools import check_pages

    assert check_pages.PAGE.read_text("utf-8") == check_pages.text(), "run: python -m tools.check_pages"
