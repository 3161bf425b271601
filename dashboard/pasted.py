"""The box for an error message on the first page, and the cards that explain what was pasted.

What is pasted stays in the visitor's own session: it is read where the page runs, goes into no address and no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from dashboard import escape, navigation, render, words

if TYPE_CHECKING:
    from stethoscope.pasted.messages.message import Way
    from stethoscope.pasted.reading.explanation import Card, Explanation, Notice, Where

PARAM = "message"
"""A link to what a kind means in general: `?message=input-axis`."""
_TEXT = "pasted-text"
_HEIGHT = 110
_EXAMPLE: Final = """Traceback (most recent call last):
  File "/home/ada/digits/train.py", line 31, in <module>
    model.fit(x_train, y_train, epochs=5)
ValueError: Exception encountered when calling Sequential.call().

Input 0 of layer "dense_2" is incompatible with the layer: expected axis -1 of input shape to have value 64, but \
received input with shape (None, 128)"""
_TONES: Final[dict[str, render.Tone]] = {"certain": "bad", "likely": "careful", "possible": "plain"}
_SURE: Final = {"certain": "certain", "likely": "likely", "possible": "possible", "unknown": "not known"}


def box() -> None:
    """The field, and what it says about the text in it."""
    with st.form("pasted", border=False):
        st.text_area(
            "An error message, a traceback or a log",
            key=_TEXT,
            height=_HEIGHT,
            placeholder="Traceback (most recent call last): …",
            help="It is read, never run, and kept nowhere. Noise around the message does no harm.",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.form_submit_button("Explain", type="primary")
            st.form_submit_button("Show an example", type="tertiary", on_click=_fill)
    _answer(st.session_state.get(_TEXT) or "")


def _fill() -> None:
    st.session_state[_TEXT] = _EXAMPLE


def _answer(pasted: str) -> None:
    kind = st.query_params.get(PARAM, "")
    if not pasted.strip() and not kind:
        return
    from stethoscope.pasted.reading.explaining import explain, of_kind

    explained = explain(pasted) if pasted.strip() else of_kind(kind)
    if explained is None:
        st.caption(escape.markdown(f"There is no message of the kind “{kind}”."))
        return
    if explained.kind is None:
        _unknown(explained)
    for position, card in enumerate(explained.cards):
        if position == 0 and explained.kind is not None:
            _card(card)
        else:
            with st.expander(escape.markdown(f"Also fits ({_SURE[card.certainty]}): {card.title}")):
                _card(card)
    _notices(explained.notices)
    if explained.shortened:
        st.caption("The text is very long: its middle was left out.")


def _unknown(explained: Explanation) -> None:
    with st.container(border=True):
        render.verdict("plain", _SURE["unknown"], escape.sentences(explained.title))
        st.markdown(escape.sentences(explained.cause))
        _line(explained.telling_line)
        _where(explained.where)
        _steps(explained.steps)
        _ways(explained.next)


def _card(card: Card) -> None:
    with st.container(border=True):
        render.verdict(_TONES[card.certainty], _SURE[card.certainty], escape.sentences(card.title))
        st.markdown(escape.sentences(card.cause))
        _line(card.telling_line)
        _where(card.where)
        if card.read:
            told = " · ".join(f"{one.name} {one.value}" for one in card.read)
            st.caption(escape.markdown(f"Read from it: {told}", 600))
        _steps(card.steps)
        _ways(card.next)
        if card.sources:
            links = " · ".join(f"[{escape.markdown(_short(source))}]({source})" for source in card.sources)
            st.caption(f"Where it comes from: {links} · [a link to this kind](?{PARAM}={card.kind})")


def _line(line: str) -> None:
    if line:
        st.code(escape.clip(line, 300), language=None, wrap_lines=True)


def _where(where: Where | None) -> None:
    if where is None:
        return
    place = f"{where.file}, line {where.line:,}" if where.line is not None else where.file
    function = f" in {where.function}" if where.function else ""
    st.caption(escape.markdown(f"Your own line: {place}{function}", 300))
    if where.code:
        st.code(escape.clip(where.code, 300), language="python", wrap_lines=True)


def _steps(steps: Sequence[object]) -> None:
    for number, step in enumerate(steps, start=1):
        text, code = str(getattr(step, "text", "")), str(getattr(step, "code", ""))
        st.markdown(f"{number}. {escape.markdown(text, 600)}")
        if code:
            st.code(code, language="python", wrap_lines=True)


def _ways(ways: Sequence[Way]) -> None:
    if not ways:
        return
    titles = {page.url_path: page.title for page in navigation.page_files()}
    for way in ways:
        with st.container(horizontal=True, vertical_alignment="center"):
            render.go_to(way.page, f"See it proved: {titles[way.page]}")
            st.code(way.command, language="bash", width="content")


def _notices(notices: Sequence[Notice]) -> None:
    if not notices:
        return
    count = words.plural(len(notices), "line that means nothing by itself", "lines that mean nothing by themselves")
    with st.expander(count):
        for notice in notices:
            st.code(escape.clip(notice.line, 200), language=None, wrap_lines=True)
            st.caption(escape.sentences(notice.cause))


def _short(source: str) -> str:
    return source.removeprefix("https://").removeprefix("www.").removeprefix("github.com/")
