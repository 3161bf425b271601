"""What is compared and how: metrics, parameters, which run is better, and which runs at all. A link reopens every choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import streamlit as st

from dashboard import escape, session, words
from stethoscope.errors import BadSetting
from stethoscope.logs.as_curve import roles
from stethoscope.logs.better import best_is_low
from stethoscope.logs.runs.compare import Comparison, Metric
from stethoscope.logs.runs.run_filter import matching

MOST_METRICS, MOST_PARAMETERS = 8, 12
_SHOWN_PARAMETERS = 6
_MOST_OFFERED = 2_000
LOWER, HIGHER = "lower", "higher"
ADDRESS = ("metrics", "params", "by", "better", "filter", "across", "up")
"""Parts of the address that belong to this view."""


class Log(NamedTuple):
    """What is compared: runs, names of tags with how many runs have them, and what a tag's runs reached."""

    job_id: str
    revision: int
    """Another number when another point came in."""
    trackers: frozenset[str]
    runs: Comparison
    tags: Mapping[str, int]
    metric: Callable[[str, bool], Metric]
    """By tag, and whether higher is better."""
    answer: Callable[[Hashable, Callable[[], Any]], Any]
    """See `OpenLog.answer`."""


class Chosen(NamedTuple):
    """The settings of this view."""

    metrics: tuple[str, ...]
    parameters: tuple[str, ...]
    by: str
    """The tag that decides which run is better; "" while none is chosen."""
    higher: bool
    """Whether more of it is better."""

    def higher_is_better(self, tag: str) -> bool:
        """As chosen for `by`, else as the name says."""
        return self.higher if tag == self.by else not best_is_low(tag)


def choose(log: Log) -> Chosen:
    """Draws the settings."""
    _forget_those_of_another_log(log.job_id)
    tags = {id_of(tag): tag for tag in offered(log.tags)}
    parameters = {id_of(name): name for name in log.runs.parameters}
    row = st.grid(4, min_column_width=190, vertical_alignment="bottom")
    with row.cell():
        metrics = _several("Metrics", tags, [id_of(tag) for tag in usual(log.tags)], "metrics", MOST_METRICS)
    with row.cell():
        varying = [id_of(name) for name in log.runs.varying][:_SHOWN_PARAMETERS]
        given = _several("Parameters", parameters, varying, "params", MOST_PARAMETERS)
    with row.cell():
        by = one_of("Better by", metrics, lambda one: escape.clip(tags[one], 60), "by")
    tag = tags[by] if by else ""
    with row.cell():
        named = LOWER if best_is_low(tag) else HIGHER
        # A choice of its own for each metric: what was said of the loss is not true of the accuracy.
        better = st.segmented_control(
            "Better is", (LOWER, HIGHER), default=_recalled_side(named), key=f"compare-better-{by}", required=True
        )
        session.remember("better", None if better == named else better)
    chosen = (tuple(tags[one] for one in metrics), tuple(parameters[one] for one in given))
    return Chosen(*chosen, tag, better == HIGHER)


def _forget_those_of_another_log(job_id: str) -> None:
    """What was chosen for one log is not asked of the next; the first one may come with a link."""
    before = st.session_state.get("_compare-log", job_id)
    st.session_state["_compare-log"] = job_id
    if before == job_id:
        return
    for name in ADDRESS:
        session.remember(name, None)
    for name in [key for key in st.session_state if str(key).startswith("compare-")]:
        del st.session_state[name]


def _recalled_side(named: str) -> str:
    asked = session.recalled("better")
    return asked if asked in (LOWER, HIGHER) else named


def one_of(label: str, options: Sequence[str], shown: Callable[[str], str], key: str) -> str:
    """A select box of ids whose choice stands in the address, unless it is the first; "" without options."""
    widget = f"compare-{key}"
    if st.session_state.get(widget) not in options:
        asked = session.recalled(key)
        st.session_state[widget] = asked if asked in options else options[0] if options else None
    chosen = st.selectbox(label, options, format_func=shown, key=widget, disabled=not options)
    session.remember(key, None if not options or chosen == options[0] else chosen)
    return chosen or ""


def offered(tags: Mapping[str, int]) -> list[str]:
    """Tags to choose from: the usual ones, then those most runs have; at most 2,000."""
    first = usual(tags)
    return [*first, *sorted(tags.keys() - set(first), key=lambda tag: (-tags[tag], tag))][:_MOST_OFFERED]


def usual(tags: Mapping[str, int]) -> list[str]:
    """The metrics most people look at first: validation before training, at most three; the commonest tag otherwise."""
    found = roles(tags)
    named = [tag for tag in (found.val_loss, found.val_metric, found.loss, found.metric) if tag]
    return named[:3] or sorted(tags, key=lambda tag: (-tags[tag], tag))[:1]


def id_of(name: str) -> str:
    """A name as it may stand in a list in the address."""
    return quote(name, safe="/:_-. ()")


def _several(label: str, titles: Mapping[str, str], default: Sequence[str], key: str, most: int) -> list[str]:
    asked = session.recalled(key)
    start = default if asked is None else [one for one in asked.split(",") if one in titles]
    widget = f"compare-{key}"
    if widget in st.session_state:
        # A live log may lose what was chosen; Streamlit would stop at a choice that is no option.
        st.session_state[widget] = [one for one in st.session_state[widget] if one in titles]
    else:
        st.session_state[widget] = list(start)[:most]
    chosen = st.multiselect(
        label,
        list(titles),
        format_func=lambda one: escape.clip(titles.get(one, one), 60),
        key=widget,
        max_selections=most,
        disabled=not titles,
        placeholder="none" if titles else "these runs have none",
    )
    session.remember(key, None if chosen == list(default) else ",".join(chosen) or "-")
    return chosen


def filtered(log: Log, metric: Callable[[str], Metric]) -> list[int] | None:
    """Places of the runs to show; None after saying why a filter cannot be understood."""
    st.session_state.setdefault("compare-filter", session.recalled("filter") or "")
    text = st.text_input(
        "Filter",
        key="compare-filter",
        placeholder="lr<0.01 optimizer=adam val_loss<0.3, or part of a name",
        help="Conditions side by side must all hold; `or`, `not` and parentheses join them. A metric stands for its best "
        "value, `last.NAME` for its last. `*` stands for anything in a text: `run=baseline*`.",
    )
    session.remember("filter", text or None)
    try:
        places = matching(text or "", log.runs, metric, list(log.tags))
    except BadSetting as error:
        st.warning(escape.sentences(error))
        return None
    if text:
        st.caption(f"{words.plural(len(places), 'run')} of {words.count(len(log.runs.runs))}")
    return list(places)
