"""A JSON file of moderate size, read whole within a bound."""

from __future__ import annotations

import json
from typing import Any

from stethoscope.data.images.image_opening import Opening
from stethoscope.errors import UnreadableFile
from stethoscope.models.containers.damage import JSON

_COPIES = 10
"""Memory that parsed JSON takes, in multiples of the file."""


def read_json(opening: Opening, name: str) -> Any:
    """The value of one member.

    Raises:
        UnreadableFile: it is no valid JSON; says where.
        TooLarge: it does not fit the budget.
    """
    text = opening.text(name, opening.budget_bytes // _COPIES)
    try:
        return json.loads(text)
    except JSON as error:
        reason = " ".join(str(error).split())[:120]
        raise UnreadableFile(f"{name}: the JSON is malformed ({reason}). Export it again.") from error
