"""Numbers of layers as colours that a colour-blind reader can order, in the graph and in the table alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dashboard import figures
from dashboard.architecture.graph_view import Legend
from dashboard.architecture.layer_measures import Measure
from stethoscope.checks.findings import Severity
from stethoscope.types import Architecture

VIRIDIS = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
"""Source: matplotlib's viridis, at tenths; even steps of lightness, also without colour vision."""
SEVERITIES = {
    Severity.CRITICAL: figures.VERMILION,
    Severity.HIGH: figures.ORANGE,
    Severity.MEDIUM: figures.YELLOW,
    Severity.LOW: figures.SKY,
    Severity.INFO: figures.BLUE,
}
_DECADES = 2
"""Values that lie further apart than this many powers of ten are coloured by their logarithm."""
_UNKNOWN = {"light": "#c3c9cf", "dark": "#4a535b"}
_ZERO = {"light": "#eef1f4", "dark": "#242c33"}


def colours(measure: Measure, theme: str) -> tuple[dict[str, str], Legend]:
    """A colour for each layer that has a number, and what the colours mean. More is further from the page's background."""
    if measure.id == "findings":
        return _levels(measure, theme)
    stops = VIRIDIS if theme == "dark" else VIRIDIS[::-1]
    positive = [value for value in measure.values.values() if value > 0]
    levels = [(_ZERO[theme], "0")] if len(positive) < len(measure.values) else []
    levels.append((_UNKNOWN[theme], "not known"))
    title = f"{measure.title}: {measure.about}"
    if not positive:
        return dict.fromkeys(measure.values, _ZERO[theme]), Legend(title, levels=levels)
    low, high = min(positive), max(positive)
    logarithmic = high > low * 10**_DECADES
    low = low if logarithmic else 0.0
    found = {
        path: _between(stops, _place(value, low, high)) if value > 0 else _ZERO[theme]
        for path, value in measure.values.items()
    }
    middle = math.sqrt(low * high) if logarithmic else high / 2
    ticks = [(0.0, measure.text(low)), (0.5, measure.text(middle)), (1.0, measure.text(high))]
    return found, Legend(title + (" (log scale)" if logarithmic else ""), stops, ticks, levels)


def _place(value: float, low: float, high: float) -> float:
    """Where a value lies on the scale, 0 … 1; logarithmic where `low` is above 0."""
    if high <= low:
        return 1.0
    return (math.log(value / low) / math.log(high / low)) if low > 0 else value / high


def _between(stops: Sequence[str], place: float) -> str:
    at = min(max(place, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(at), len(stops) - 2)
    ends = [[int(stop[digit : digit + 2], 16) for digit in (1, 3, 5)] for stop in stops[first : first + 2]]
    return "#" + "".join(f"{round(a + (b - a) * (at - first)):02x}" for a, b in zip(*ends, strict=True))


def _levels(measure: Measure, theme: str) -> tuple[dict[str, str], Legend]:
    found = {path: SEVERITIES[Severity(int(value))] for path, value in measure.values.items()}
    present = {int(value) for value in measure.values.values()}
    levels = [(colour, severity.label) for severity, colour in SEVERITIES.items() if severity in present]
    levels.append((_UNKNOWN[theme], "none found"))
    return found, Legend(f"{measure.title}: {measure.about}", levels=levels)


def with_blocks(measure: Measure, architecture: Architecture) -> Measure:
    """The measure with a number for every block (nested model) whose layers have one: the graph draws it as one node."""
    known = {layer.path for layer in architecture.layers}
    values: dict[str, float] = dict(measure.values)
    blocks: dict[str, float] = {}
    for path, value in measure.values.items():
        block = path
        while "/" in block:
            block = block.rpartition("/")[0]
            if block not in known or not measure.values.get(block):
                before = blocks.get(block, 0.0)
                blocks[block] = before + value if measure.joined == "sum" else max(before, value)
    values.update(blocks)
    return Measure(measure.id, values, measure.text, measure.about, measure.joined)


def of_nodes(found: Mapping[str, str], nodes: Mapping[str, str]) -> dict[str, str]:
    """Colours by node of the graph; `nodes` are those that do not go by the layer's path."""
    return {nodes.get(path, path): colour for path, colour in found.items()}
