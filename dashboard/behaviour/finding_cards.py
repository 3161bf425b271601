"""Findings as cards: what, where, why, the picture, the fix to copy, and what trying it gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from dashboard import escape, figures, render, words
from dashboard.behaviour import evidence_figures
from stethoscope.checks import all_checks
from stethoscope.checks.findings import (
    Bars,
    Curves,
    Excerpt,
    Finding,
    Histogram,
    Number,
    Proof,
    Severity,
    Symptom,
    Table,
)
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.pasted.scripts.rules import all_rules
from stethoscope.types import Architecture

_COLOURS: Mapping[Severity, Literal["red", "orange", "blue", "gray"]] = {
    Severity.CRITICAL: "red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "orange",
    Severity.LOW: "blue",
    Severity.INFO: "gray",
}
_VERDICTS: Mapping[str, tuple[render.Tone, str]] = {
    "helps": ("good", "The fix helps"),
    "no_difference": ("careful", "The fix makes no difference"),
    "worse": ("bad", "The fix makes it worse"),
    "skipped": ("plain", "The fix was not tried"),
}
_FOLDED_BELOW = Severity.MEDIUM


def show(findings: tuple[Finding, ...], architecture: Architecture | None, key: str) -> None:
    """All findings, most severe first; those below MEDIUM are folded when there are worse ones."""
    grave = [finding for finding in findings if finding.severity >= _FOLDED_BELOW]
    minor = [finding for finding in findings if finding.severity < _FOLDED_BELOW]
    for place, finding in enumerate(grave):
        card(finding, architecture, f"{key}-{place}")
    if minor and grave:
        with st.expander(f"{words.plural(len(minor), 'smaller remark')}"):
            for place, finding in enumerate(minor, len(grave)):
                card(finding, architecture, f"{key}-{place}")
    else:
        for place, finding in enumerate(minor):
            card(finding, architecture, f"{key}-{place}")


def card(finding: Finding, architecture: Architecture | None, key: str) -> None:
    """One finding."""
    with st.container(border=True, key=f"finding-{key}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(finding.severity.label.capitalize(), color=_COLOURS[finding.severity])
            st.markdown(f"**{escape.markdown(finding.title)}**", width="content")
            _place(finding, architecture)
        st.markdown(escape.sentences(finding.message))
        pictures = [item for item in finding.evidence if isinstance(item, Curves | Bars | Histogram)]
        numbers = [item for item in finding.evidence if isinstance(item, Number)]
        tables = [item for item in finding.evidence if isinstance(item, Table)]
        if numbers:
            st.caption(" · ".join(map(_number, numbers)))
        for place, item in enumerate(pictures[:2]):
            st.caption(escape.markdown(item.title))
            st.plotly_chart(
                evidence_figures.picture(item), config=figures.CONFIG, key=f"picture-{key}-{place}", alt=item.title
            )
        for table in tables[:2]:
            st.caption(escape.markdown(table.title))
            st.dataframe(_columns(table), hide_index=True, height="content" if len(table.rows) <= 8 else 300)
        _excerpts(finding)
        if finding.fix is not None:
            st.markdown(f"**Fix.** {escape.markdown(finding.fix.summary, 400)}")
            if finding.fix.has_code:
                language = "diff" if isinstance(finding.fix, ScriptPatch) else "python"
                st.code(finding.fix.code(), language=language, wrap_lines=True)
        if finding.proof is not None:
            _proof(finding.proof, key)
        _why(finding, pictures[2:], key)


def _excerpts(finding: Finding) -> None:
    """Lines of the user's script, numbered; a patch of the same place shows them already."""
    patched = isinstance(finding.fix, ScriptPatch) and finding.fix.has_code
    for item in finding.evidence:
        if not isinstance(item, Excerpt) or (patched and item.language == "python"):
            continue
        if item.title != finding.where:  # else it stands beside the title
            st.caption(escape.code(item.title) if item.language == "python" else escape.markdown(item.title, 300))
        rows = item.text.split("\n")
        wide = len(str(item.first_line + len(rows)))
        numbered = (f"{number:>{wide}}  {row}" for number, row in enumerate(rows, item.first_line))
        st.code(item.text if item.language == "diff" else "\n".join(numbered), language=item.language, wrap_lines=True)


def _place(finding: Finding, architecture: Architecture | None) -> None:
    if not finding.where:
        return
    known = architecture is not None and any(layer.path == finding.where for layer in architecture.layers)
    if known:
        render.go_to("architecture", f"{escape.clip(finding.where, 40)} →", layer=finding.where)
    else:
        st.caption(escape.code(finding.where))


def _number(item: Number) -> str:
    limit = "" if item.threshold is None else f" (threshold {words.given(item.threshold)})"
    return f"{escape.markdown(item.label)} **{escape.markdown(words.difference(item.value) + item.unit)}**{limit}"


def _columns(table: Table) -> dict[str, list[str]]:
    return {
        escape.clip(column, 60): [_cell(row[index]) if index < len(row) else "" for row in table.rows[:200]]
        for index, column in enumerate(table.columns)
    }


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return "—"
    return words.given(float(value)) if isinstance(value, int | float) else escape.clip(value, 120)


def _proof(proof: Proof, key: str) -> None:
    tone, label = _VERDICTS[proof.verdict]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(label, color=render.colour(tone))
        st.markdown(escape.sentences(proof.message), width="content")
    if proof.curves is not None:
        st.plotly_chart(
            evidence_figures.curves(proof.curves),
            config=figures.CONFIG,
            key=f"proof-{key}",
            alt="Training before and after the fix",
        )
    if proof.effect is not None and proof.spread is not None:
        st.caption(
            f"Effect on {escape.markdown(proof.metric)}: {proof.effect:+.3g} ± {proof.spread:.2g} over "
            f"{words.plural(len(proof.seeds), 'seed')}, the same data and seeds on both sides."
        )


def _why(finding: Finding, more: list[Curves | Bars | Histogram], key: str) -> None:
    symptoms = [item for item in finding.evidence if isinstance(item, Symptom)]
    with st.expander("Why, and how sure"):
        for symptom in symptoms:
            st.markdown(f"- It explains: {escape.sentences(symptom.message)}")
        for place, item in enumerate(more):
            st.plotly_chart(
                evidence_figures.picture(item), config=figures.CONFIG, key=f"more-{key}-{place}", alt=item.title
            )
        check = all_checks().get(finding.check_id) or all_rules().get(finding.check_id)
        if check is not None:
            # Our own text: the check's page as it is written.
            st.markdown(page_markdown(check.page))
        st.caption(
            f"Confidence {round(100 * finding.confidence)} % · kind of fault: {finding.fault.value.replace('_', ' ')}"
        )


def page_markdown(page: str) -> str:
    """A check's docstring as Markdown: its headings bold, line breaks as written."""
    lines = []
    for line in page.splitlines()[1:]:
        head, colon, rest = line.partition(":")
        lines.append(f"\n**{head}.**{rest}" if colon and head in ("Why", "Example", "Fix", "Source") else line)
    return "\n".join(lines).strip()
