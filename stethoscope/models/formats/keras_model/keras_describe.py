"""From a Keras description and the arrays stored with it to an `Architecture`."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers.hdf5 import StoredArray
from stethoscope.models.formats.keras_model.keras_builtins import is_builtin, layer_by_key
from stethoscope.models.formats.keras_model.keras_config import Entry, Network
from stethoscope.models.formats.keras_model.keras_ends import (
    built_inputs,
    compile_settings,
    ends,
    input_specs,
    layer_dtype,
    output_layers,
    output_specs,
    readable_config,
)
from stethoscope.models.formats.keras_model.keras_hazards import inspect_description, not_installed
from stethoscope.models.formats.keras_model.keras_parameters import Counts, Stored, count_parameters
from stethoscope.models.formats.keras_model.keras_shapes import Flow, Flows, follow, input_refs
from stethoscope.models.own_code import OwnCode
from stethoscope.types import Architecture, GivenCode, Layer, MissingCode, Operand, TensorSpec

_UNNAMED = "Weights"


@contextmanager
def sensible(subject: str) -> Iterator[None]:
    """Turns what a description of the wrong shape (a text where a list belongs) leads to into a sentence.

    Raises:
        UnreadableFile: the JSON is valid, but not a model.
    """
    try:
        yield
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        detail = " ".join(str(error).split())[:120]
        raise UnreadableFile(
            f"{subject}: its description does not have the form Keras writes ({type(error).__name__}: {detail}). Save the model again."
        ) from error


@dataclass
class Description:
    """A Keras file, read and checked but not yet understood."""

    subject: str
    format_id: str
    display_format: str
    model: dict[str, Any]
    """The serialized model, in Keras 2 or 3 layout."""
    network: Network | None
    version: str
    """Of the Keras that saved it; "" when the file does not say."""
    backend: str = ""
    training: Any = None
    """compile_config or training_config."""
    stored: Stored | None = None
    weight_bytes: int = 0
    warnings: list[str] = field(default_factory=list)
    originals: Sequence[Any] = ()
    """Further JSON of the file that loading would deserialise."""
    code: OwnCode | None = None
    """What its author gave beside it."""

    @property
    def modern(self) -> bool:
        """Whether Keras 3 saved it."""
        return is_modern(self.version)

    @property
    def provided(self) -> frozenset[str]:
        """Names of the author's own whose code is there."""
        return frozenset() if self.code is None else self.code.names

    @property
    def untrained(self) -> dict[str, Any]:
        """The model without how it was compiled: what it takes to run it."""
        return {key: item for key, item in self.model.items() if key != "compile_config"}


def is_modern(version: str) -> bool:
    """Whether a version is Keras 3 or newer; tf_keras' 2.x, Keras 1 and an unknown version are not."""
    found = re.match(r"(\d+)", version)
    return found is not None and int(found.group(1)) >= 3


def describe(description: Description) -> Architecture:
    """Builds the architecture.

    Raises:
        TooLarge: a layer asks for more parameters than the budget.
    """
    network, subject = description.network, description.subject
    inspection = inspect_description(description.untrained, *description.originals, provided=description.provided)
    compiled_with = inspect_description(description.training, provided=description.provided)
    warnings = list(description.warnings)
    layers: list[Layer] = []
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    if network is not None:
        output_shapes, flows = follow(network)
        counts = count_parameters(subject, network, flows, description.stored, description.modern)
        layers = list(_layers(network, flows, counts, "", {}))
        inputs, outputs = input_specs(network, flows, description.modern), output_specs(network, output_shapes)
        warnings += counts.warnings + _unknown(counts)
        if counts.from_settings:
            warnings.append("Saved without weights: running it would use fresh random ones.")
    else:
        inputs = built_inputs(description.model)
        warnings.append(
            "A subclassed model: its file holds weights and settings, but not how the layers are connected."
        )
    if description.stored is not None:
        layers += _leftover(description.stored, {layer.path for layer in layers})
    # Groups of a subclassed model are named by attribute: which of their arrays are statistics cannot be told.
    unclear = network is None and any(layer.type == _UNNAMED for layer in layers)
    warnings += _version_warnings(description)
    missing = [
        MissingCode(need.name, need.module, need.where, only_training=found is compiled_with)
        for found in (inspection, compiled_with)
        for need in found.foreign
        if need.is_lacking
    ]
    warnings += [_only_named(need) for need in missing if need.only_training][:1]
    code = description.code
    made_by = _framework(description)
    runnable = not_installed(
        inspection.foreign, "" if code is None else code.file.name, keras_1=made_by.startswith("Keras 1")
    )
    if code is not None and code.problem:
        warnings.append(code.problem)
        runnable = code.problem if runnable else ""
    return Architecture(
        format_id=description.format_id,
        display_format=description.display_format,
        framework_version=made_by,
        parameters=sum(layer.parameters for layer in layers),
        trainable_parameters=None if unclear else sum(layer.trainable_parameters for layer in layers),
        inputs=inputs,
        outputs=outputs,
        layers=tuple(layers),
        compile=compile_settings(description.training),
        warnings=tuple(warnings),
        hazards=(*inspection.hazards, *(one for one in compiled_with.hazards if one not in inspection.hazards)),
        weight_bytes=description.weight_bytes,
        runnable=f"{subject}: {runnable}" if runnable else "",
        output_layers=output_layers(network) if network is not None else (),
        missing=tuple(missing),
        keeps_state=tuple(layer.path for layer in layers if _is_stateful(layer.config)),
        given=None if code is None else GivenCode(code.file.name, inspection.provided + compiled_with.provided),
    )


def _is_stateful(config: Mapping[str, Any]) -> bool:
    """Whether a recurrent layer, or the one in its wrapper, goes on from where the last call ended."""
    inner = config.get("layer")
    wrapped = inner.get("config") if isinstance(inner, dict) else None
    return config.get("stateful") is True or (isinstance(wrapped, dict) and wrapped.get("stateful") is True)


def _layers(
    network: Network, flows: Flows, counts: Counts, prefix: str, outside: dict[str, tuple[str, ...]]
) -> Iterator[Layer]:
    ends_of = {entry.name: ends(entry, prefix) for entry in network.entries}
    feeds = [ref.name for ref in input_refs(network)]
    for entry in network.entries:
        path = prefix + entry.name
        sources = [source for call in entry.calls for ref in call.refs() for source in ends_of.get(ref.name, ())]
        if entry.network is not None:
            inner_feeds = [ref.name for ref in input_refs(entry.network)]
            given = _by_input(entry, inner_feeds, ends_of)
            yield from _layers(entry.network, flows, counts, path + "/", given)
            continue
        if entry.name in feeds and not entry.calls:
            sources += outside.get(entry.name, ())
        flow = flows.get(path)
        total, trained = counts.by_path.get(path, (0, 0))
        config = readable_config(entry.config)
        shape = flow.output if flow else None
        first = flow.calls[0] if flow and flow.calls else []
        if len(first) > 1 or (flow and len(flow.calls) > 1):
            config["output_shapes"] = (
                [list(item) if item is not None else None for call in flow.calls[:8] for item in call[:8]]
                if flow
                else []
            )
        yield Layer(
            path=path,
            type=entry.class_name,
            output_shape=shape,
            parameters=total,
            trainable_parameters=trained,
            dtype=layer_dtype(entry, network),
            inputs=tuple(dict.fromkeys(sources)),
            config=config,
            operands=_operands(flow, ends_of) if flow else (),
            calls=max(1, len(flow.calls)) if flow else 1,
        )


def _operands(flow: Flow, ends_of: dict[str, tuple[str, ...]]) -> tuple[Operand, ...]:
    found = []
    for reads in flow.reads:
        for ref, shape in reads:
            paths = ends_of.get(ref.name, ())
            path = paths[ref.tensor] if ref.tensor < len(paths) else paths[0] if paths else ""
            found.append(Operand(path, shape))
    if not found and flow.inputs:
        found = [Operand("", shape) for shape in flow.inputs]
    return tuple(found)


def _by_input(entry: Entry, feeds: list[str], ends: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What feeds each input of a nested model, over all its calls."""
    given: dict[str, tuple[str, ...]] = {}
    for call in entry.calls:
        for name, ref in zip(feeds, call.refs(), strict=False):
            given[name] = given.get(name, ()) + ends.get(ref.name, ())
    return given


def _leftover(stored: Stored, taken: set[str]) -> Iterator[Layer]:
    groups: dict[str, list[StoredArray]] = {}
    for owner, arrays in stored.leftover.items():
        groups.setdefault(owner or "weights", []).extend(arrays)
    for owner, arrays in groups.items():
        path = owner if owner not in taken else f"{owner} (own weights)"
        total = sum(array.count for array in arrays)
        kind = layer_by_key(owner.rsplit("/", 1)[-1])
        frozen = sum(array.count for array in arrays[2:]) if kind == "BatchNormalization" and len(arrays) == 4 else 0
        yield Layer(
            path,
            kind or _UNNAMED,
            None,
            total,
            total - frozen,
            arrays[0].dtype,
            (),
            {"stored": [list(a.shape) for a in arrays[:16]]},
        )


def _only_named(need: MissingCode) -> str:
    return (
        f"Compiled with {need.name!r}, of which the file holds the name, not the code: training it here takes another loss or "
        "the Python file that defines it. All else needs none."
    )


def _unknown(counts: Counts) -> list[str]:
    if not counts.unknown:
        return []
    names = ", ".join(repr(path) for path in counts.unknown[:3]) + (" …" if len(counts.unknown) > 3 else "")
    return [
        f"Parameters of {len(counts.unknown)} layer(s) are not known and counted as 0: {names}. The file has neither their weights nor their input shapes."
    ]


def _framework(description: Description) -> str:
    if not description.version:
        return "Keras 1" if "1" in description.display_format else "Keras"
    backend = f" ({description.backend} backend)" if description.backend else ""
    return f"Keras {description.version}{backend}"


def _version_warnings(description: Description) -> Iterator[str]:
    if description.backend == "theano" and description.network is not None and _has_convolution(description.network):
        yield "Saved with the Theano backend, whose convolutions flip their kernels: they are turned around when the model is run here."
    if description.modern:
        installed = importlib.metadata.version("keras")
        if _numbers(description.version) > _numbers(installed):
            yield f"Saved by Keras {description.version}, newer than the installed {installed}: a newer layer may not load."
    network = description.network
    first = (
        [entry.name for entry in network.entries if entry.config.get("data_format") == "channels_first"]
        if network
        else []
    )
    if first:
        yield f"{len(first)} layer(s), first {first[0]!r}, put channels first: TensorFlow on a CPU cannot run every such layer."
    custom = [entry for entry in network.entries if not is_builtin(entry)] if network else []
    if custom and description.stored is None:
        yield f"{len(custom)} custom layer(s) without stored weights: their parameters are not counted."


def _has_convolution(network: Network) -> bool:
    return any(
        _has_convolution(entry.network) if entry.network is not None else "Conv" in entry.class_name
        for entry in network.entries
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
