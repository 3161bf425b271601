"""What our components are sent, as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_it_is(data: Mapping[str, Any]) -> tuple[dict[str, Any]]:
    """Wraps a component's data: its script finds it as `component.data[0]`.

    Streamlit looks for data frames among the values of a plain dictionary, and imports pandas for that: 80 MiB that a page without a
    data frame does not need.
    """
    return (dict(data),)
