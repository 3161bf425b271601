"""How many parameters each layer has and how many of them are trained: from the weights file, else from the config."""

from __future__ import annotations

from dataclasses import dataclass, field

from stethoscope.errors import TooLarge
from stethoscope.models.containers import limits
from stethoscope.models.containers.hdf5 import StoredArray
from stethoscope.models.formats.keras_model.keras_builtins import is_builtin
from stethoscope.models.formats.keras_model.keras_config import Entry, Network
from stethoscope.models.formats.keras_model.keras_recurrent_shapes import inner_layer
from stethoscope.models.formats.keras_model.keras_shapes import Flows, is_operation
from stethoscope.models.formats.keras_model.keras_spatial_shapes import Shapes
from stethoscope.models.formats.keras_model.keras_stored import Stored
from stethoscope.models.formats.keras_model.keras_weight_rules import Weights
from stethoscope.models.formats.keras_model.keras_weights import expected_weights

_SLACK_BYTES = 256 << 20
_ITEM_BYTES = 4
_STATISTICS = (
    "moving_mean",
    "moving_variance",
    "running_mean",
    "running_std",
    "running_var",
    "vector_u",
    "moving_stddev",
    "renorm_",
)


@dataclass
class Counts:
    """(total, trainable) by layer path, the weights each layer should have, and what does not fit."""

    by_path: dict[str, tuple[int, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Layers whose parameters neither the config nor the weights tell."""
    from_settings: list[str] = field(default_factory=list)
    """Layers that should have parameters, of which the file stores none."""


def count_parameters(subject: str, network: Network, flows: Flows, stored: Stored | None, modern: bool) -> Counts:
    """Counts every layer's parameters.

    Raises:
        TooLarge: a layer's config asks for more than the budget, or far more than the file stores.
    """
    counts = Counts()
    _count(subject, network, flows, stored, modern, "", network.trainable, counts)
    return counts


def _count(
    subject: str,
    network: Network,
    flows: Flows,
    stored: Stored | None,
    modern: bool,
    prefix: str,
    trained: bool,
    counts: Counts,
) -> None:
    for entry in network.entries:
        path = prefix + entry.name
        if entry.network is not None:
            inner = trained and entry.trainable
            _count(subject, entry.network, flows, stored, modern, path + "/", inner, counts)
            continue
        flow = flows.get(path)
        shapes: Shapes = flow.inputs if flow is not None and flow.inputs else [None]
        expected: Weights | None = [] if is_operation(entry) or entry.class_name == "Lambda" else None
        if expected is None and is_builtin(entry):
            expected = expected_weights(entry.class_name, entry.config, shapes, modern)
        arrays = stored.by_path.get(path) if stored is not None else None
        _check_budget(subject, path, entry, expected, arrays, stored)
        counts.by_path[path] = _layer(path, entry, expected, arrays, trained and entry.trainable, counts)


def _layer(
    path: str, entry: Entry, expected: Weights | None, arrays: list[StoredArray] | None, trained: bool, counts: Counts
) -> tuple[int, int]:
    wanted = None if expected is None else sum(weight.count for weight in expected)
    frozen = None if expected is None else sum(weight.count for weight in expected if not weight.trainable)
    if expected and arrays and inner_layer(entry.config) and _stored_twice(expected, arrays):
        return _split(wanted or 0, frozen or 0, trained)
    if arrays or (arrays is not None and not wanted):
        total = sum(array.count for array in arrays)
        if wanted is not None and wanted != total:
            counts.warnings.append(
                f"Layer {path!r} ({entry.class_name}) should have {wanted:,} parameters by its settings, the weights file holds {total:,}."
            )
            frozen = None
        if frozen is None:
            frozen = sum(array.count for array in _not_trained(entry, arrays))
        return _split(total, frozen, trained)
    if wanted is None:
        counts.unknown.append(path)
        return 0, 0
    if wanted:
        counts.from_settings.append(path)
    return _split(wanted, frozen or 0, trained)


def _not_trained(entry: Entry, arrays: list[StoredArray]) -> list[StoredArray]:
    """Statistics among stored weights: by name in `.h5` files, by Keras' order (trained ones first) in `.keras` files."""
    named = [array for array in arrays if any(word in array.path for word in _STATISTICS)]
    if named or "BatchNormalization" not in entry.class_name:
        return named
    trained = [entry.config.get("scale", True), entry.config.get("center", True)].count(True)
    return arrays[trained:]


def _split(total: int, frozen: int, trained: bool) -> tuple[int, int]:
    return total, total - frozen if trained else 0


def _stored_twice(expected: Weights, arrays: list[StoredArray]) -> bool:
    """Whether a wrapper stores weights of the layer inside it a second time, as SpectralNormalization does."""
    spare = [array.shape for array in arrays]
    for weight in expected:
        if weight.shape not in spare:
            return False
        spare.remove(weight.shape)
    return all(any(shape == weight.shape for weight in expected) for shape in spare)


def _check_budget(
    subject: str,
    path: str,
    entry: Entry,
    expected: Weights | None,
    arrays: list[StoredArray] | None,
    stored: Stored | None,
) -> None:
    declared = sum(weight.count for weight in expected or ()) * _ITEM_BYTES
    held = sum(array.size_bytes for array in arrays or ())
    limit = limits.MAX_WEIGHT_BYTES if stored is None else min(limits.MAX_WEIGHT_BYTES, _SLACK_BYTES + 4 * held)
    if declared > limit:
        raise TooLarge(
            f"{subject}: layer {path!r} ({entry.class_name}) asks for {declared // _ITEM_BYTES:,} parameters ({declared:,} bytes), "
            f"the file stores {held:,} bytes for it. Building it would use up the memory; check the layer's settings."
        )
