"""Which map of which grid is picked: in the address, as "grid:map"."""

from __future__ import annotations

from dashboard import choices, session
from dashboard.activations.map_grid import TOLD


def picked(name: str, grid: int) -> int | None:
    """The map picked in a grid, None for none.

    Args:
        name: of the choice in the address.
        grid: number of the grid on the page.
    """
    parts = (session.recalled(name) or "").split(":")
    if len(parts) == 2 and all(part.isdecimal() for part in parts) and int(parts[0]) == grid:
        return int(parts[1])
    return None


def take(name: str, grids: int, *, prefix: str) -> None:
    """Puts a click on a map into the address.

    Args:
        name: of the choice in the address.
        grids: how many grids the page draws; the key of each is `prefix` and its number.
        prefix: see `grids`.
    """
    told = {f"{prefix}{grid}": TOLD for grid in range(grids)}
    choice = choices.newest(told)
    if choice is None:
        return
    grid = choice.key.removeprefix(prefix)
    session.remember(name, f"{grid}:{choice.value}" if isinstance(choice.value, int) and choice.value >= 0 else None)
    choices.take(told)
