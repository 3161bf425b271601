"""What a visitor chose in the app's own components, taken once: a script may be interrupted before it has acted on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st


class Choice(NamedTuple):
    """What was chosen last. Hostile: it comes from the browser."""

    key: str
    """Of the component it was chosen in."""
    value: Any


def newest(components: Mapping[str, str]) -> Choice | None:
    """The latest choice that has not been taken; `components` are keys and the state in which each tells {value, at}."""
    found = []
    for key, name in components.items():
        told = _told(key, name)
        if (
            isinstance(told, dict)
            and isinstance(told.get("at"), int | float)
            and told != st.session_state.get(_taken(key))
        ):
            found.append((float(told["at"]), Choice(key, told.get("value"))))
    return max(found, key=lambda one: one[0])[1] if found else None


def take(components: Mapping[str, str]) -> None:
    """Marks what was chosen as acted on."""
    for key, name in components.items():
        st.session_state[_taken(key)] = _told(key, name)


def _told(key: str, name: str) -> Any:
    return (st.session_state.get(key) or {}).get(name)


def _taken(key: str) -> str:
    return f"_taken-{key}"
