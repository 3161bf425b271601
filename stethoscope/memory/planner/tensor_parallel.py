"""Which layers can be split between devices, how, and what each device then holds and sends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import LayerShape, ModelShape

How = Literal["column", "row", "heads", "vocabulary", "filters"]

_PASSES_A_SPLIT = {Kind.ACTIVATION, Kind.DROPOUT, Kind.MERGE, Kind.PRODUCT, Kind.RESHAPE, Kind.COPY, Kind.OTHER}
"""Kinds that work feature by feature or head by head, so that a split tensor can go through them."""
_WORDS: dict[How, str] = {
    "column": "dense by output features",
    "row": "dense by input features",
    "heads": "attention by heads",
    "vocabulary": "embedding by vocabulary",
    "filters": "convolution by filters",
}


@dataclass(frozen=True)
class TensorSplit:
    """A model over `degree` tensor-parallel devices."""

    degree: int
    how: Mapping[str, How]
    """By path, for the layers that are split; all others are copied to every device."""
    split_outputs: frozenset[str]
    """Paths whose output stays split: nothing is gathered behind them."""
    notes: tuple[str, ...]

    def parameters(self, layer: LayerShape) -> int:
        """Parameters of `layer` on each device."""
        return _share(layer, self.how.get(layer.path), self.degree, layer.parameters)

    def trainable(self, layer: LayerShape) -> int:
        """Trainable parameters of `layer` on each device."""
        if not layer.trainable_parameters:
            return 0
        whole = layer.parameters == layer.trainable_parameters
        return self.parameters(layer) if whole else layer.trainable_parameters

    def all_reduced_elements(self, layer: LayerShape) -> int:
        """Values per sample that all devices exchange behind `layer` in a forward pass."""
        how = self.how.get(layer.path)
        return layer.elements if how is not None and layer.path not in self.split_outputs else 0


def tensor_split(shape: ModelShape, degree: int) -> TensorSplit:
    """Splits every layer that can be split over `degree` devices.

    Attention by heads, embeddings by vocabulary, convolutions by filters. Dense layers in pairs, the first by output and the
    second by input features, so that what lies between stays split and one all-reduce follows (queries, keys and values
    made by dense layers count as the first of a pair); a dense layer without a partner by output features.

    Source: Shoeybi et al. 2019, Megatron-LM, arXiv 1909.08053, section 3.
    """
    if degree == 1:
        return TensorSplit(1, {}, frozenset(), ())
    how: dict[str, How] = {}
    refused: list[tuple[str, str]] = []
    split_outputs: set[str] = set()
    pairs = _dense_pairs(shape)
    paired = {path for first, second, _ in pairs for path in (*first, second)}
    for first, second, between in pairs:
        layers = [shape.layer(path) for path in first]
        uneven = next((layer for layer in layers if layer.width % degree), None)
        if uneven is not None:
            refused.append((uneven.path, f"{uneven.width:,} units"))
            continue
        how.update(dict.fromkeys(first, "column"))
        how[second] = "row"
        split_outputs |= between
    for layer in shape.layers:
        if not layer.parameters or layer.path in paired:
            continue
        rule, size, what = _rule(layer)
        if rule is None:
            continue
        if size % degree:
            refused.append((layer.path, f"{size:,} {what}"))
        else:
            how[layer.path] = rule
    return TensorSplit(degree, how, frozenset(split_outputs), tuple(_notes(shape, degree, how, refused)))


def _rule(layer: LayerShape) -> tuple[How | None, int, str]:
    config = layer.config
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        heads = int(config.get("num_heads") or config.get("num_query_heads") or 1)
        key_value_heads = int(config.get("num_key_value_heads") or heads)
        return "heads", min(heads, key_value_heads), "heads"
    if layer.kind is Kind.EMBEDDING:
        rows = config.get("input_dim") or config.get("vocabulary_size")
        return ("vocabulary", int(rows), "rows") if isinstance(rows, int) else (None, 0, "")
    if layer.kind is Kind.CONVOLUTION:
        filters = config.get("filters")
        return ("filters", int(filters), "filters") if isinstance(filters, int) else (None, 0, "")
    if layer.kind is Kind.DENSE:
        return "column", layer.width, "units"
    return None, 0, ""


def _share(layer: LayerShape, how: How | None, degree: int, parameters: int) -> int:
    """Parameters left on each of `degree` devices; a bias added after the all-reduce is on all of them."""
    if how is None:
        return parameters
    copied = layer.width if how in ("row", "heads") and layer.config.get("use_bias", True) else 0
    if how == "heads" and layer.kind is Kind.TRANSFORMER:
        copied = 6 * layer.width
    copied = min(copied, parameters)
    return copied + -(-(parameters - copied) // degree)


def _dense_pairs(shape: ModelShape) -> list[tuple[tuple[str, ...], str, set[str]]]:
    """(first layers, second layer, what lies between) for dense layers that can be split as a pair."""
    by_path = {layer.path: layer for layer in shape.layers}
    readers: dict[str, list[str]] = {path: [] for path in by_path}
    for layer in shape.layers:
        for source in layer.inputs:
            if source in readers:
                readers[source].append(layer.path)
    with_weights = _downstream_of_weights(shape)
    pairs: list[tuple[tuple[str, ...], str, set[str]]] = []
    used: set[str] = set()
    for second in shape.layers:
        if second.kind is not Kind.DENSE or not second.parameters or second.path in used:
            continue
        first, between, clean = _behind(second, by_path, with_weights)
        region = between | set(first)
        inside = all(reader in region or reader == second.path for path in region for reader in readers[path])
        if clean and first and inside and not region & (used | shape.outputs):
            pairs.append((tuple(sorted(first)), second.path, region))
            used |= {*first, second.path}
    return pairs


def _behind(
    second: LayerShape, by_path: Mapping[str, LayerShape], with_weights: set[str]
) -> tuple[set[str], set[str], bool]:
    first: set[str] = set()
    between: set[str] = set()
    waiting = list(second.inputs)
    while waiting:
        layer = by_path.get(waiting.pop())
        if layer is None:
            return first, between, False
        if layer.path in between or layer.path in first or layer.path not in with_weights:
            continue
        if layer.kind is Kind.DENSE and layer.parameters and layer.activation != "softmax":
            first.add(layer.path)
        elif layer.kind in _PASSES_A_SPLIT and not (layer.parameters and layer.kind is Kind.OTHER):
            between.add(layer.path)
            waiting.extend(layer.inputs)
        else:
            return first, between, False
    return first, between, True


def _downstream_of_weights(shape: ModelShape) -> set[str]:
    """Paths that depend on any weight: masks and positions do not, and are the same on every device."""
    found: set[str] = set()
    for layer in shape.layers:
        if layer.parameters or any(path in found for path in layer.inputs):
            found.add(layer.path)
    return found


def _notes(shape: ModelShape, degree: int, how: Mapping[str, How], refused: list[tuple[str, str]]) -> list[str]:
    notes = []
    if how:
        parts = [f"{_WORDS[kind]} ({number})" for kind, number in Counter(how.values()).most_common()]
        notes.append(f"Split {degree} ways: {', '.join(parts)}.")
    if refused:
        path, size = refused[0]
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        notes.append(f"Not divisible by {degree}, copied to every device: {path} ({size}){more}.")
    gone = {path for path, _ in refused}
    copied = Counter(
        layer.kind.value
        for layer in shape.layers
        if layer.parameters and layer.path not in how and layer.path not in gone
    )
    if copied:
        notes.append("Copied to every device: " + ", ".join(f"{kind} ({n})" for kind, n in copied.most_common()) + ".")
    return notes
