"""A diagnosis as one HTML file: no script, no network, dark and light."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files

from stethoscope import __version__
from stethoscope.checks.judging.findings import Number, Symptom, Table
from stethoscope.studies.diagnosis.report import Report
from stethoscope.studies.report.drawing import picture
from stethoscope.types import Status


def render(report: Report) -> str:
    """Returns the page. Every name from the user's files is escaped by the template."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        files("stethoscope.studies.report").joinpath("report.html.j2").read_text("utf-8")
    )
    cards = [
        {
            "finding": finding,
            "numbers": [item for item in finding.evidence if isinstance(item, Number)],
            "symptoms": [item for item in finding.evidence if isinstance(item, Symptom)],
            "tables": [item for item in finding.evidence if isinstance(item, Table)],
            "pictures": [drawn for item in finding.evidence if (drawn := picture(item))],
            "code": finding.fix.code() if finding.fix and finding.fix.has_code else "",
            "proof_picture": picture(finding.proof.curves) if finding.proof and finding.proof.curves else "",
        }
        for finding in report.findings
    ]
    return template.render(
        report=report,
        cards=cards,
        counts=report.counts(),
        ran=[outcome.check_id for outcome in report.outcomes if outcome.status is Status.OK],
        not_run=[outcome for outcome in report.outcomes if outcome.status is not Status.OK],
        created=datetime.fromtimestamp(report.created_s, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
    )
