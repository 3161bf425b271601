"""Diagnoses as studies: what is kept of them, and how one is started."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import replace
from typing import Final

from stethoscope.jobs.job_engine import Engine
from stethoscope.studies.diagnosis.report import Report, report_from_json, report_to_json
from stethoscope.studies.diagnosis.request import Request
from stethoscope.studies.diagnosis.run import Diagnosis
from stethoscope.studies.lab.studies import Cancelled, Kind, Publish, Studies
from stethoscope.types import Status


def _answers(report: Report) -> Hashable:
    return (report.status, *(stage.status for stage in report.stages))


def _cut_off(report: Report, status: Status, reason: str) -> Report:
    return replace(report, status=status, reason=reason)


DIAGNOSIS: Final = Kind("diagnosis", report_to_json, report_from_json, _answers, _cut_off, "diagnoses", 50)


def start(studies: Studies, engine: Engine, request: Request) -> str:
    """Starts a diagnosis and returns its id at once; an equal one of this owner that is under way is joined."""

    def work(publish: Publish[Report], cancelled: Cancelled) -> None:
        Diagnosis(engine, request, publish, cancelled).run()

    first = Report(request.summary(), created_s=time.time())
    return studies.start(DIAGNOSIS, request.entry_id, request.owner, work, first, same=repr(request))
