"""Keras files written anew as plain data: names and settings of 1.x as those of 2, weights left out for drawing.

Source: keras/legacy/interfaces.py of Keras 2.0 to 2.3, which accepted the old arguments.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

from stethoscope.models.containers import damage, hdf5
from stethoscope.models.containers.archive import Archive
from stethoscope.models.model_format import Program
from stethoscope.types import Architecture, ModelFile

_CLASSES = {
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "AtrousConvolution1D": "Conv1D",
    "AtrousConvolution2D": "Conv2D",
    "Deconvolution2D": "Conv2DTranspose",
    "SeparableConvolution2D": "SeparableConv2D",
    "TimeDistributedDense": "Dense",
}
TAKEN_OUT = {
    "MaxoutDense": "Dense(nb_feature * units), Reshape((nb_feature, units)), and the maximum over axis 1",
    "Highway": "t * Dense(n, activation)(x) + (1 - t) * x, with t = Dense(n, 'sigmoid')(x)",
    "SReLU": "x between two learned thresholds, and a line of a learned slope beyond each of them",
    "ParametricSoftplus": "alpha * softplus(beta * x)",
}
"""Layers of Keras 1 that Keras 2 took out with nothing in their place, and what they compute.

Source: keras/layers/core.py and advanced_activations.py of Keras 1.2.2.
"""
_KEYS = {
    "output_dim": "units",
    "init": "kernel_initializer",
    "inner_init": "recurrent_initializer",
    "inner_activation": "recurrent_activation",
    "W_regularizer": "kernel_regularizer",
    "U_regularizer": "recurrent_regularizer",
    "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint",
    "U_constraint": "recurrent_constraint",
    "b_constraint": "bias_constraint",
    "bias": "use_bias",
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "atrous_rate": "dilation_rate",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
    "p": "rate",
    "sigma": "stddev",
}
_INITIALIZERS = {
    "normal": "random_normal",
    "uniform": "random_uniform",
    "zero": "zeros",
    "one": "ones",
    "gaussian": "random_normal",
}
_MERGE = {
    "sum": "Add",
    "mul": "Multiply",
    "ave": "Average",
    "max": "Maximum",
    "concat": "Concatenate",
    "dot": "Dot",
    "cos": "Dot",
}
_DROPPED = frozenset(
    [
        "input_dim",
        "input_length",
        "consume_less",
        "forget_bias_init",
        "input_dtype",
        "nb_row",
        "nb_col",
        "kernel_dim1",
        "kernel_dim2",
        "kernel_dim3",
        "filter_length",
        "subsample_length",
        "pool_length",
        "stride",
        "dim_ordering",
        "mode",
        "mode_type",
        "concat_axis",
        "dot_axes",
        "output_shape",
        "output_shape_type",
        "output_mask",
        "output_mask_type",
        "node_indices",
        "tensor_indices",
        "arguments",
        "regularizers",
        "gamma_regularizer",
        "beta_regularizer",
    ]
)


def is_legacy(model: Any, version: str) -> bool:
    """Whether a serialized model is of Keras 1: by version, or by settings that only Keras 1 wrote."""
    if version:
        return version.startswith("1") or version.startswith("0")
    return any(
        key in config
        for config in _configs(model)
        for key in ("nb_filter", "border_mode", "W_regularizer", "dim_ordering")
    )


def modernised(model: Any, depth: int = 0) -> Any:
    """Returns the serialized model in Keras 2's layout."""
    if isinstance(model, list):
        return [modernised(item, depth + 1) for item in model]
    if not isinstance(model, dict) or depth > 100:
        return model
    out = {
        key: modernised(value, depth + 1) if key in ("config", "layers", "layer") else value
        for key, value in model.items()
    }
    if isinstance(out.get("class_name"), str) and isinstance(out.get("config"), dict) and "layers" not in out["config"]:
        out["class_name"], out["config"] = _layer(out["class_name"], out["config"])
    return out


def _configs(model: Any, depth: int = 0) -> list[dict[str, Any]]:
    if depth > 20 or not isinstance(model, dict):
        return []
    config = model.get("config")
    if isinstance(config, list):
        return [found for item in config[:50] for found in _configs(item, depth + 1)]
    if not isinstance(config, dict):
        return []
    layers = config.get("layers")
    return [config] + [
        found for item in (layers if isinstance(layers, list) else [])[:50] for found in _configs(item, depth + 1)
    ]


def _layer(class_name: str, old: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    new: dict[str, Any] = {}
    for key, value in old.items():
        if key in _DROPPED:
            continue
        name = _KEYS.get(key, key)
        new[name] = (
            _INITIALIZERS.get(value, value) if name.endswith("_initializer") and isinstance(value, str) else value
        )
    if old.get("dim_ordering") in ("th", "tf"):
        new["data_format"] = "channels_first" if old["dim_ordering"] == "th" else "channels_last"
    if "input_dtype" in old:
        new["dtype"] = old["input_dtype"] if class_name == "InputLayer" else "float32"
    _special(class_name, old, new)
    if class_name == "Merge":
        return _merge(old, new)
    return _CLASSES.get(class_name, class_name), new


def _special(class_name: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    if "nb_row" in old:
        new["kernel_size"] = [old["nb_row"], old.get("nb_col", old["nb_row"])]
    if "kernel_dim1" in old:
        new["kernel_size"] = [old[f"kernel_dim{axis}"] for axis in (1, 2, 3)]
    if "filter_length" in old:
        new["kernel_size"] = [old["filter_length"]]
        new["strides"] = [old.get("subsample_length", 1)]
    if "pool_length" in old:
        new["pool_size"], new["strides"] = [old["pool_length"]], [old.get("stride") or old["pool_length"]]
    if class_name == "Embedding":
        new["input_dim"], new["output_dim"] = old.get("input_dim"), old.get("output_dim")
        new["embeddings_initializer"] = new.pop("kernel_initializer", "uniform")
        for key in ("units", "kernel_regularizer", "kernel_constraint", "dropout"):
            new.pop(key, None)
        if old.get("input_length") is not None:
            new["input_length"] = old["input_length"]
    if class_name in ("LSTM", "GRU", "SimpleRNN"):
        new["implementation"] = 1 if old.get("consume_less") == "cpu" else 2
        if class_name == "GRU":
            new["reset_after"] = False
        if class_name == "LSTM":
            new["unit_forget_bias"] = old.get("forget_bias_init") == "one"
    if class_name == "UpSampling1D" and "length" in old:
        new["size"] = new.pop("length")
    if (
        class_name in ("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
        and isinstance(old.get("padding"), list)
        and len(old["padding"]) == 4
    ):
        top, bottom, left, right = old["padding"]
        new["padding"] = [[top, bottom], [left, right]]


def _merge(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind = _MERGE.get(str(old.get("mode")))
    kept: dict[str, Any] = {key: new[key] for key in new if key in ("name", "trainable")}
    if kind is None or old.get("mode_type") in ("lambda", "function"):
        return "Lambda", {**kept, "function": old.get("mode"), "function_type": old.get("mode_type"), "arguments": {}}
    if kind == "Concatenate":
        kept["axis"] = old.get("concat_axis", -1)
    if kind == "Dot":
        kept["axes"], kept["normalize"] = old.get("dot_axes", -1), old.get("mode") == "cos"
    return kind, kept


_LEFT_OUT = frozenset({"optimizer_weights", "optimizer", "_optimizer"})
_MAX_HEADER_BYTES = 60_000


def zip_skeleton(file: ModelFile, archive: Archive) -> bytes:
    """Returns a `.keras` archive: the JSON members as they are, one weights file without data.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    from stethoscope.models.formats.keras_zip import member_stream, top_folder, weight_members

    root = top_folder(archive.names)
    weights = io.BytesIO()
    import h5py

    with h5py.File(weights, "w") as target:
        for name in weight_members(file, archive, root):
            subject = f"{file.name}, weights file {name!r}"
            with (
                member_stream(file, archive, name) as stream,
                hdf5.open_h5(subject, stream) as source,
                hdf5.reading(subject),
            ):
                hdf5.survey(subject, source)
                _copy(subject, source, target)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
        for name in ("metadata.json", "config.json"):
            if root + name in archive.members:
                out.writestr(_entry(name), archive.read(root + name, damage.MAX_CONFIG_BYTES))
        out.writestr(_entry("model.weights.h5"), weights.getvalue())
    return packed.getvalue()


def h5_skeleton(file: ModelFile) -> bytes:
    """Returns an `.h5` file without data.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    import h5py

    out = io.BytesIO()
    with hdf5.open_h5(file.name, str(file.path)) as source, hdf5.reading(file.name), h5py.File(out, "w") as target:
        hdf5.survey(file.name, source)
        _copy(file.name, source, target)
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """A fixed date: the same model gives the same bytes."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _copy(subject: str, source: Any, target: Any) -> None:
    """Copies a surveyed tree; `survey` has refused links and loops, so this ends."""
    import h5py

    _copy_attributes(subject, source, target)
    waiting = [(source, target)]
    while waiting:
        old, new = waiting.pop()
        for name, thing in old.items():
            if name in _LEFT_OUT and old.name == "/":
                continue
            if isinstance(thing, h5py.Group):
                group = new.require_group(name)
                _copy_attributes(subject, thing, group)
                waiting.append((thing, group))
            elif isinstance(thing, h5py.Dataset) and thing.shape is not None and name not in new:
                # Contiguous and never written: HDF5 allocates nothing.
                _copy_attributes(subject, thing, new.create_dataset(name, thing.shape, _storable(thing.dtype)))


def _storable(dtype: Any) -> Any:
    import h5py

    return h5py.string_dtype() if dtype.kind == "O" else dtype


def _copy_attributes(subject: str, source: Any, target: Any) -> None:
    import h5py
    import numpy as np

    for name in source.attrs:
        value = hdf5.attribute(subject, source, name)
        if isinstance(value, tuple):
            value = np.array(value, dtype=h5py.string_dtype()) if value else np.zeros(0)
            if value.size * 16 > _MAX_HEADER_BYTES:
                continue
        if value is not None:
            target.attrs[name] = value


def program(name: str, architecture: Architecture) -> Program:
    """See `Format.program`."""
    module = "tf_keras" if architecture.of_keras_2 else "keras"
    single = len(architecture.inputs) == 1
    feed = "next(iter(batch.values()))" if single else "list(batch.values())"
    given = architecture.given if architecture.given is not None and architecture.given.names else None
    return Program(
        (f"import {module}", *(() if given is None else (given.statement,))),
        (f"model = {module}.models.load_model({name!r}{'' if given is None else given.objects})",),
        (f"results.append(model({feed}, training=False))",),
    )
