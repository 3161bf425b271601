"""Compare two models layer by layer: matched by name, then by structure; settings, shapes, dtypes and weights. Executes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Literal

from stethoscope.architecture.layer_looks import Change, changes
from stethoscope.architecture.matching import is_across, match
from stethoscope.compare.parity.comparison import OfBoth
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import detect
from stethoscope.models.model_format import WeightsByLayer
from stethoscope.models.weights.weight_statistics import LayerDifference, opened, weights_apart
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, ModelFile


@dataclass(frozen=True)
class WeightsApart:
    """How far the weights of two layers are apart, all tensors of one shape together; norms are Euclidean."""

    norm_a: float
    norm_b: float
    norm_of_difference: float
    relative: float
    """The norm of the difference over the larger of the two."""
    tensors: int
    """How many were compared."""


@dataclass(frozen=True)
class LayerPair:
    """A layer of the first model and its counterpart."""

    a: str
    b: str
    how: Literal["name", "structure"]
    """What matched them."""
    changes: tuple[Change, ...] = ()
    weights: WeightsApart | None = None
    """None where they were not compared."""


@dataclass(frozen=True)
class DifferenceSummary:
    """How many layers are what."""

    same: int
    changed: int
    other_weights: int
    by_name: int
    by_structure: int
    added: int
    removed: int
    changes: Mapping[str, int]
    """By what was changed."""
    parameters: OfBoth[int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArchitectureDifference:
    """The layers of two models beside each other."""

    pairs: tuple[LayerPair, ...]
    added: tuple[str, ...]
    """Paths that only the other has,"""
    removed: tuple[str, ...]
    """and those that only the first has."""
    summary: DifferenceSummary


class CompareArchitectures:
    """params: {"weights": bool (true)}; files: "model", "other"."""

    kind = "compare_architectures"
    answer = ArchitectureDifference

    def run(self, context: TaskContext) -> ArchitectureDifference:
        """Matches the layers, then compares what they are, and their weights.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `describe`.
        """
        files = context.files["model"], context.files["other"]
        described = []
        for file in files:
            context.report("read", message=f"reading {file.name}")
            described.append(detect(file).describe(file))
        first, second = described
        context.report("match", message="matching layers")
        pairs, notes = _pairs(first, second), _notes(first, second)
        context.save_partial(_answer(first, second, pairs, notes))
        if context.params.get("weights", True):
            pairs, more = _with_weights(pairs, files, context)
            notes += more
        return _answer(first, second, pairs, notes)


def _pairs(first: Architecture, second: Architecture) -> list[LayerPair]:
    found = match(first, second)
    partners = {item.a: item.b for item in found}
    layers_a = {layer.path: layer for layer in first.layers}
    layers_b = {layer.path: layer for layer in second.layers}
    across = is_across(first, second)
    return [
        LayerPair(item.a, item.b, item.how, changes(layers_a[item.a], layers_b[item.b], partners, across=across))
        for item in found
    ]


def _with_weights(
    pairs: list[LayerPair], files: tuple[ModelFile, ModelFile], context: TaskContext
) -> tuple[list[LayerPair], list[str]]:
    """The pairs with how far their weights are apart, and what must be said of it."""
    with ExitStack() as stack:
        held: list[WeightsByLayer] = []
        for file in files:
            try:
                held.append(stack.enter_context(opened(file)))
            except StethoscopeError as error:
                return pairs, [f"Weights are not compared. {error}"]
        unread = sum(
            bool(weight.unreadable) for by_layer in held for weights in by_layer.values() for weight in weights
        )
        made = []
        for index, pair in enumerate(pairs):
            left, right = held[0].get(pair.a), held[1].get(pair.b)
            if not left or not right:
                made.append(pair)
                continue
            context.report("weights", index / len(pairs), f"comparing the weights of {pair.a[:80]}")
            made.append(_weighed(pair, weights_apart(left, right)))
    return made, [f"{unread} tensors cannot be read apart and are left out."] if unread else []


def _weighed(pair: LayerPair, apart: LayerDifference) -> LayerPair:
    unlike = (Change("shape", f"weight {name}", a, b) for name, a, b in apart.unlike)
    pair = replace(pair, changes=(*pair.changes, *unlike))
    if apart.together is None:
        return pair
    return replace(
        pair, weights=WeightsApart(**asdict(apart.together), relative=apart.together.relative, tensors=apart.compared)
    )


def _notes(first: Architecture, second: Architecture) -> list[str]:
    if not is_across(first, second):
        return []
    return [
        f"{first.display_format or first.format_id} and {second.display_format or second.format_id} describe a model differently: layers "
        "are matched by what is left of their names and by structure; their settings and edges are not compared. Operators "
        "that one of them splits off or folds into a neighbour stand as added or removed, and folded weights differ."
    ]


def _answer(
    first: Architecture, second: Architecture, pairs: list[LayerPair], notes: list[str]
) -> ArchitectureDifference:
    changed = [pair for pair in pairs if pair.changes]
    others = [pair for pair in pairs if not pair.changes and pair.weights and pair.weights.norm_of_difference > 0]
    matched_a, matched_b = {pair.a for pair in pairs}, {pair.b for pair in pairs}
    added = tuple(layer.path for layer in second.layers if layer.path not in matched_b)
    removed = tuple(layer.path for layer in first.layers if layer.path not in matched_a)
    summary = DifferenceSummary(
        same=len(pairs) - len(changed) - len(others),
        changed=len(changed),
        other_weights=len(others),
        by_name=sum(pair.how == "name" for pair in pairs),
        by_structure=sum(pair.how == "structure" for pair in pairs),
        added=len(added),
        removed=len(removed),
        changes=Counter(change.what for pair in changed for change in pair.changes),
        parameters=OfBoth(first.parameters, second.parameters),
        notes=tuple(notes),
    )
    return ArchitectureDifference(tuple(pairs), added, removed, summary)


TASK = CompareArchitectures()
