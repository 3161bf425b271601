"""The choice of a target: what this file can be converted to, what each is good for, and what it cannot become and why."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import escape, session
from stethoscope.compare.convert import all_converters
from stethoscope.compare.convert.converter import Converter
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

ADDRESS = "to"
"""The chosen target in the address."""
_FAMILY, _VARIANT = "target-family", "target-variant"
_RUNTIMES = {".onnx": "ONNX Runtime", ".tflite": "LiteRT"}


def possible(architecture: Architecture) -> dict[str, Converter]:
    """The targets by id that this file can be tried for, in the order in which they are offered."""
    return {key: one for key, one in all_converters().items() if not one.refusal(architecture)}


def runtime(target: str) -> str:
    """What runs a file of this target."""
    converter = all_converters().get(target)
    return _RUNTIMES.get("" if converter is None else converter.suffix, "TensorFlow")


def title(target: str) -> str:
    """What people call a target. Our own words."""
    converter = all_converters().get(target)
    return target if converter is None else converter.title


def options_of(target: str, architecture: Architecture) -> tuple[str, ...]:
    """The options of a conversion that count for this target and this file."""
    unchanging = ("batch_size",) if format_of(architecture).keeps_batch else ()
    return tuple(name for name in all_converters()[target].options if name not in unchanging)


def choose(found: Mapping[str, Converter], first: str) -> str:
    """Draws the choice, a row of targets and where one has several precisions a second row; returns the target's id.

    Args:
        found: the targets that can be tried, at least one.
        first: the one to show where the address says nothing.
    """
    families: dict[str, dict[str, str]] = {}
    for key, one in found.items():
        family, variant = _named(one)
        families.setdefault(family, {})[key] = variant or family
    asked = session.recalled(ADDRESS)
    start = next(one for one in (asked, first, next(iter(found))) if one in found)
    assert start is not None
    family_now = _named(found[start])[0]
    if st.session_state.get(_FAMILY) not in families:
        st.session_state[_FAMILY] = family_now
    family = str(st.segmented_control("Convert to", list(families), key=_FAMILY, required=True) or family_now)
    variants = families[family]
    chosen = next(iter(variants))
    if len(variants) > 1:
        key = f"{_VARIANT}-{family}"
        if st.session_state.get(key) not in variants:
            st.session_state[key] = start if start in variants else chosen
        picked = st.segmented_control(
            "Precision", list(variants), format_func=lambda one: variants.get(one, one), key=key, required=True
        )
        chosen = str(picked) if picked in variants else chosen
    session.remember(ADDRESS, chosen)
    st.caption(found[chosen].about)
    return chosen


def show(target: str) -> None:
    """Chooses a target before the choice is drawn."""
    converter = all_converters()[target]
    family = _named(converter)[0]
    st.session_state[_FAMILY] = family
    st.session_state[f"{_VARIANT}-{family}"] = target
    session.remember(ADDRESS, target)


def say_refused(architecture: Architecture) -> None:
    """What this file cannot be converted to, and why; targets of one reason together."""
    reasons: dict[str, list[Converter]] = {}
    for one in all_converters().values():
        reason = one.refusal(architecture)
        if reason:
            reasons.setdefault(reason.replace(one.title, "…"), []).append(one)
    for pattern, refused in reasons.items():
        names = _listed([one.title for one in refused])
        reason = pattern.replace("…", "they" if len(refused) > 1 else names)
        st.caption(f"**Not from this file: {escape.markdown(names, 300)}.** {escape.sentences(reason)}")


def good_for(found: Mapping[str, Converter]) -> None:
    """A table of the targets: what each is good for."""
    columns = {
        "Target": [one.title for one in found.values()],
        "Runs in": [runtime(key) for key in found],
        "Good for": [one.about for one in found.values()],
    }
    st.dataframe(
        columns,
        hide_index=True,
        height="content",
        column_config={"Good for": st.column_config.TextColumn(width="large")},
    )


def _named(converter: Converter) -> tuple[str, str]:
    """A title in its two parts: "TFLite (float16)" is ("TFLite", "float16")."""
    family, _, variant = converter.title.partition(" (")
    return family, variant.rstrip(")")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
