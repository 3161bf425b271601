"""What is known of each layer as a number: from the file, from its arithmetic, and from what was run on this model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dashboard import analysis, words
from dashboard.deployment import parity_layers
from dashboard.kept_answers import kept
from stethoscope.activations.study import LayerActivations
from stethoscope.architecture.layer_costs import LayerCost, costs
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.checks.findings import Severity
from stethoscope.codec import partial_of
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.jobs.store import Entry
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.study import studies
from stethoscope.types import Architecture

TITLES = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "bytes": "Output bytes",
    "time": "Measured time",
    "findings": "Findings",
    "dead": "Dead units",
    "parity": "Parity error",
}
"""Everything that layers may be coloured by, in the order it is offered."""
NEEDED = {
    "time": "run the statistics of a Keras model on the Activations page",
    "dead": "run the statistics on the Activations page",
    "findings": "run a diagnosis",
    "parity": "compare the model with its conversion on the Parity page",
}
"""What would make a measure known."""


@dataclass(frozen=True)
class Measure:
    """One number for each layer that has one."""

    id: str
    values: Mapping[str, float]
    """By path; layers that are missing are not known."""
    text: Callable[[float], str]
    """The number as people read it."""
    about: str
    """What it is and where it is from, after the title: one clause, our own words."""
    joined: Literal["sum", "max"] = "sum"
    """How the numbers of layers inside a block become the block's."""

    @property
    def title(self) -> str:
        """For people."""
        return TITLES[self.id]


def of(entry: Entry, architecture: Architecture, batch: int, sizes: Sizes) -> dict[str, Measure]:
    """Every measure there is data for, by id, in the order of `TITLES`."""
    parameters = {layer.path: float(layer.parameters) for layer in architecture.layers}
    work = layer_costs(architecture, batch, sizes)
    flops = {cost.path: float(cost.flops) for cost in work if cost.flops is not None}
    sizes_bytes = {cost.path: float(cost.output_bytes) for cost in work if cost.output_bytes is not None}
    at = f"at batch {words.count(batch)}"
    found = [
        Measure("parameters", parameters, lambda value: words.count(int(value)), "number of weights"),
        Measure("flops", flops, words.operations, f"floating-point operations of one call {at}, computed"),
        Measure("bytes", sizes_bytes, words.size, f"memory of what the layer yields {at}, computed"),
        *_of_activations(entry),
        Measure("findings", _findings(entry), _severity, "the most severe finding of the last diagnosis", "max"),
        Measure(
            "parity",
            _parity(entry, architecture),
            _share,
            "difference of the last comparison as a share of the layer's values",
            "max",
        ),
    ]
    return {measure.id: measure for measure in found if any(True for _ in measure.values)}


@kept
def layer_costs(architecture: Architecture, batch: int, sizes: Sizes) -> tuple[LayerCost, ...]:
    """The arithmetic of every layer, in the order of the layers."""
    return costs(architecture, batch, sizes)


def _of_activations(entry: Entry) -> Iterable[Measure]:
    state = analysis.last(entry, "activations", saying="layers")
    answer = None if state is None or state.result is None else partial_of(state.result, LayerActivations)
    if answer is None:
        return
    times: dict[str, float] = {}
    dead: dict[str, float] = {}
    for row in answer.layers:
        path = _layer_path(row.path)
        if row.time_s is not None:
            times[path] = times.get(path, 0.0) + row.time_s
        if row.units and row.dead_units is not None:
            dead[path] = max(dead.get(path, 0.0), row.dead_units / row.units)
    told = f"on {words.plural(answer.rows, 'row')}"
    yield Measure(
        "time", times, words.duration, "time in the layer, in one call with the batch of the last statistics, measured"
    )
    yield Measure("dead", dead, lambda value: words.share(value, 1), f"share of units that were zero {told}", "max")


def _layer_path(call: str) -> str:
    """The layer of one call of a shared layer: "encoder#2" is the second call of "encoder"."""
    path, found, place = call.rpartition("#")
    return path if found and place.isdecimal() else call


def _findings(entry: Entry) -> dict[str, float]:
    last = studies().latest(DIAGNOSIS, entry.id)
    worst: dict[str, float] = {}
    for finding in () if last is None else last.report.findings:
        if finding.where:
            worst[finding.where] = max(worst.get(finding.where, 0.0), float(finding.severity))
    return worst


def _severity(value: float) -> str:
    return Severity(int(value)).label


def _parity(entry: Entry, architecture: Architecture) -> dict[str, float]:
    """By layer, from the newest comparison of this model's layers with those of another."""
    state = analysis.last(entry, "compare", saying="layers")
    compared = None if state is None or state.result is None else partial_of(state.result, Comparison)
    return {} if compared is None else parity_layers.errors(compared, architecture)


def _share(value: float) -> str:
    return "identical" if not value else words.significant(value)


def _newest(entry: Entry, kind: str) -> Mapping[str, Any]:
    """The newest answer that says anything of layers: a later run that failed does not take it away."""
    state = analysis.last(entry, kind, saying="layers")
    return {} if state is None or state.result is None else state.result.value
