"""What a description is worth to pages: one that fits is read once, one of another version is none."""

from __future__ import annotations

from dashboard import analysis
from stethoscope.codec import plain
from stethoscope.tasks.describe import Description
from stethoscope.types import Architecture, JobResult, Status


def result(value) -> JobResult:
    return JobResult(Status.OK, value, "", "", 0, 0.0)


def test_one_of_another_version_is_none_and_one_that_fits_is_made_once():
    value = plain(Description.of(Architecture("keras", "", 0, 0, (), (), ()), 7))
    assert analysis.architecture_in(result(value)) is analysis.architecture_in(result(value)) is not None
    assert analysis.architecture_in(result({**value, "parameters": 20})) is None
