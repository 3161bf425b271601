"""A diagnosis as a file to send, from the same report: one HTML file (no script, no network, dark and light), and SARIF 2.1.0, which code hosts show beside a change.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0.

A diagnosis as one HTML file: no script, no network, dark and light.

Evidence as small pictures in SVG, for reports that open without a network.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import Any

from stethoscope import __version__
from stethoscope.checks import all_checks
from stethoscope.checks.findings import (
    Bars,
    Curves,
    EvidenceItem,
    Excerpt,
    Finding,
    Histogram,
    Mark,
    Number,
    Severity,
    Symptom,
    Table,
)
from stethoscope.pasted.scripts.rules import all_rules
from stethoscope.studies.diagnosis.report import Report, unseen

_LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning"}


def as_sarif(report: Report) -> str:
    """Returns the report as SARIF text."""
    rules = sorted({finding.check_id for finding in report.findings})
    value = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Stethoscope", "version": __version__, "rules": [_rule(rule) for rule in rules]}
                },
                "results": [_result(finding, _file(report, finding)) for finding in report.findings],
            }
        ],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _rule(check_id: str) -> dict[str, Any]:
    check = all_checks().get(check_id) or all_rules().get(check_id)
    if check is None:
        return {"id": check_id}
    return {"id": check_id, "shortDescription": {"text": check.title}, "fullDescription": {"text": check.page}}


@dataclass(frozen=True)
class _Place:
    """A file, and the line in it where it has lines."""

    name: str
    line: int | None = None


def _file(report: Report, finding: Finding) -> _Place:
    """The file a finding is about: the script where it names a line of it, else the model."""
    script = str(report.request.get("script") or "")
    within = finding.where.removeprefix(f"{script}:")
    if script and within != finding.where:
        return _Place(script, int(within) if within.isdigit() else None)
    return _Place(str(report.request["model"]))


def _result(finding: Finding, place: _Place) -> dict[str, Any]:
    fix = "" if finding.fix is None else f"\nFix: {finding.fix.summary}\n{finding.fix.code()}"
    return {
        "ruleId": finding.check_id,
        "level": _LEVELS.get(finding.severity, "note"),
        "message": {"text": finding.message + fix},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": place.name},
                    **({} if place.line is None else {"region": {"startLine": place.line}}),
                },
                "logicalLocations": [{"fullyQualifiedName": finding.where}],
            }
        ],
        "properties": {
            "fault": finding.fault.value,
            "severity": finding.severity.label,
            "confidence": finding.confidence,
            "proof": None if finding.proof is None else finding.proof.verdict,
        },
    }


def as_html(report: Report) -> str:
    """Returns the page. Every name from the user's files is escaped by the template."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        files("stethoscope.studies.diagnosis").joinpath("report.html.j2").read_text("utf-8")
    )
    cards = [
        {
            "finding": finding,
            "numbers": [item for item in finding.evidence if isinstance(item, Number)],
            "symptoms": [item for item in finding.evidence if isinstance(item, Symptom)],
            "excerpts": [item for item in finding.evidence if isinstance(item, Excerpt)],
            "tables": [item for item in finding.evidence if isinstance(item, Table)],
            "pictures": [drawn for item in finding.evidence if (drawn := picture(item))],
            "code": finding.fix.code() if finding.fix and finding.fix.has_code else "",
            "proof_picture": picture(finding.proof.curves) if finding.proof and finding.proof.curves else "",
        }
        for finding in report.findings
    ]
    missed = unseen(report)
    return template.render(
        report=report,
        cards=cards,
        counts=report.counts(),
        ran=missed.ran,
        not_run=missed.not_run,
        created=datetime.fromtimestamp(report.created_s, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
    )


_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 460, 170, 58, 30, 22
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MOST_BARS = 24


def picture(item: EvidenceItem) -> str:
    """Returns an <svg> for curves, bars and histograms; "" for other evidence."""
    if isinstance(item, Curves):
        return _curves(item)
    if isinstance(item, Histogram):
        names = [f"{edge:.3g}" for edge in item.edges[:-1]]
        return _bars(item.title, item.x_label, names, [float(count) for count in item.counts], ())
    if isinstance(item, Bars):
        return _bars(item.title, item.value_label, list(item.names), list(item.values), item.marks, log=item.log)
    return ""


def _curves(item: Curves) -> str:
    lines = [
        (line, [(x, _scaled(y, item.log_y)) for x, y in zip(line.x, line.y, strict=False) if _drawable(y, item.log_y)])
        for line in item.lines
    ]
    points = [point for _, found in lines for point in found]
    if not points:
        return ""
    (x_low, x_high), (y_low, y_high) = _span([x for x, _ in points]), _span([y for _, y in points])

    def place(x: float, y: float) -> str:
        across = _LEFT + (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - 8)
        up = _TOP + (y_high - y) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{across:.1f},{up:.1f}"

    groups = list(dict.fromkeys(line.group or line.name for line, _ in lines))
    body = []
    for line, found in lines:
        colour = _COLOURS[groups.index(line.group or line.name) % len(_COLOURS)]
        path = " ".join(place(x, y) for x, y in found)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    legend = " · ".join(
        f'<tspan fill="{_COLOURS[index % len(_COLOURS)]}">{escape(group)}</tspan>' for index, group in enumerate(groups)
    )
    body.append(f'<text x="{_LEFT}" y="14" class="title">{escape(item.title)}  {legend}</text>')
    body.append(_axis(_raw(y_high, item.log_y), _raw(y_low, item.log_y), item.x_label, x_low, x_high))
    return _svg("".join(body))


def _bars(
    title: str, label: str, names: Sequence[str], values: Sequence[float], marks: Sequence[Mark], *, log: bool = False
) -> str:
    shown = [(name, value) for name, value in zip(names, values, strict=False) if _drawable(value, log)][:_MOST_BARS]
    if not shown:
        return ""
    heights = [_scaled(value, log) for _, value in shown]
    low, high = (min(0.0, *heights) if not log else min(heights) - 0.2, max(heights) if log else max(0.0, *heights))
    high = high if high > low else low + 1
    step = (_WIDTH - _LEFT - 8) / len(shown)
    body = [f'<text x="{_LEFT}" y="14" class="title">{escape(title)}</text>']
    inner = _HEIGHT - _TOP - _BOTTOM
    for index, ((name, value), height) in enumerate(zip(shown, heights, strict=True)):
        size = max(1.0, (height - low) / (high - low) * inner)
        body.append(
            f'<rect x="{_LEFT + index * step + 1:.1f}" y="{_TOP + inner - size:.1f}" width="{max(1.0, step - 2):.1f}" '
            f'height="{size:.1f}" fill="{_COLOURS[0]}"><title>{escape(name)}: {value:.4g}</title></rect>'
        )
    for mark in marks:
        if _drawable(mark.at, log) and low <= _scaled(mark.at, log) <= high:
            y = _TOP + inner - (_scaled(mark.at, log) - low) / (high - low) * inner
            body.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#D55E00" stroke-dasharray="4 3"/>'
            )
    first, last = escape(shown[0][0][:24]), escape(shown[-1][0][:24])
    body.append(
        f'<text x="6" y="{_TOP + 8}">{_raw(high, log):.3g}</text><text x="6" y="{_TOP + inner}">{_raw(low, log):.3g}</text>'
    )
    body.append(
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{first}</text><text x="{_WIDTH - 8}" y="{_HEIGHT - 8}" text-anchor="end">{last}</text>'
        f'<text x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(label)}</text>'
    )
    return _svg("".join(body))


def _axis(high: float, low: float, x_label: str, x_low: float, x_high: float) -> str:
    inner = _HEIGHT - _TOP - _BOTTOM
    return (
        f'<text x="6" y="{_TOP + 8}">{high:.3g}</text><text x="6" y="{_TOP + inner}">{low:.3g}</text>'
        f'<line x1="{_LEFT}" y1="{_TOP}" x2="{_LEFT}" y2="{_TOP + inner}" stroke="#999"/>'
        f'<line x1="{_LEFT}" y1="{_TOP + inner}" x2="{_WIDTH - 8}" y2="{_TOP + inner}" stroke="#999"/>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{x_low:.4g}</text>'
        f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 8}" text-anchor="end">{x_high:.4g}</text>'
        f'<text x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    )


def _svg(body: str) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{body}</svg>'


def _drawable(value: float, log: bool) -> bool:
    return math.isfinite(value) and (not log or value > 0)


def _scaled(value: float, log: bool) -> float:
    return math.log10(value) if log else value


def _raw(value: float, log: bool) -> float:
    return 10**value if log else value


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
