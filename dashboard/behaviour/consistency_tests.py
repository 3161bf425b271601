"""The consistency tests by group: a mark, a name and a sentence each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dashboard import escape, render, tables, words
from stethoscope.compare.consistency.report import ConsistencyTest

GROUPS: Mapping[str, tuple[str, str]] = {
    "determinism": ("Determinism", "The same input, again and again"),
    "batch": ("Batch", "A row has nothing to do with the others in its batch"),
    "mode": ("Mode", "Training against inference"),
    "save-reload": ("Save and reload", "What is written to a file and read back is the same model"),
    "robustness": ("Edge-case inputs", "What becomes of inputs that a model was not made for"),
}
_MARKS: Mapping[str, tuple[render.Tone, str]] = {
    "passed": ("good", ":material/check_circle:"),
    "failed": ("bad", ":material/cancel:"),
    "worth knowing": ("careful", ":material/info:"),
    "only rounding": ("plain", ":material/check_circle:"),
    "not applicable": ("plain", ":material/do_not_disturb_on:"),
}
_SENTENCE_CHARACTERS = 600


def of_group(tests: Sequence[ConsistencyTest], group: str) -> list[ConsistencyTest]:
    """The tests of one group."""
    return [test for test in tests if test.group == group]


def summary(tests: Sequence[ConsistencyTest]) -> str:
    """How many failed, are worth knowing, passed: "1 failed · 2 worth knowing · 9 passed"."""
    ends = [tables.ending(test) for test in tests]
    counts = [(ends.count(end), end) for end in ("failed", "worth knowing", "passed")]
    return " · ".join(f"{count} {end}" for count, end in counts if count) or "not applicable"


def section(tests: Sequence[ConsistencyTest], group: str, *, known: str = "", columns: int = 1) -> None:
    """One group in a border: its title, how it went, and every test. The layer `known` is linked to elsewhere."""
    mine = of_group(tests, group)
    if not mine:
        return
    title, about = GROUPS[group]
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.markdown(f"**{title}**", help=about, width="content")
            st.caption(summary(mine))
        grid = st.grid(columns, min_column_width=320, gap=("small", "medium")) if columns > 1 else None
        for test in _merged(mine):
            if grid is None:
                _line(test, tests, known)
            else:
                with grid.cell():
                    _line(test, tests, known)


def _merged(tests: Sequence[ConsistencyTest]) -> list[ConsistencyTest]:
    """What does not apply for one and the same reason is said once."""
    lines: list[ConsistencyTest] = []
    for test in tests:
        if lines and _same_reason(lines[-1], test):
            lines[-1] = replace(lines[-1], id="", name=f"{lines[-1].name} · {test.name}")
        else:
            lines.append(test)
    return lines


def _same_reason(first: ConsistencyTest, second: ConsistencyTest) -> bool:
    both = {tables.ending(first), tables.ending(second)}
    return both == {"not applicable"} and first.detail == second.detail


def _line(test: ConsistencyTest, tests: Sequence[ConsistencyTest], known: str) -> None:
    end = tables.ending(test)
    if test.id == "same-input-bitwise" and end == "failed" and _within_tolerance(tests):
        end = "only rounding"
    tone, icon = _MARKS[end]
    meaning = tables.TEST_MEANING.get(test.id, "")
    with st.container(gap=None):
        # A mark is told by its shape, and by a word where it is not the usual one: colour alone would not do.
        hint = None if end == "passed" else f"{end[:1].upper()}{end[1:]}. {meaning}".strip()
        name = escape.markdown(test.name, 240)
        st.markdown(f":{render.colour(tone)}[{icon}] **{name}**", help=hint, width="content")
        st.caption(escape.markdown(words.readable(test.detail), _SENTENCE_CHARACTERS))
        layer = test.layer or ""
        if layer not in ("", known) and end in ("failed", "worth knowing"):
            render.go_to("architecture", f"Show {escape.code(layer, 48)} in the graph →", layer=layer)


def _within_tolerance(tests: Sequence[ConsistencyTest]) -> bool:
    return any(test.id == "same-input-tolerance" and test.passed for test in tests)
