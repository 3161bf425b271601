"""Output shapes of recurrent layers and wrappers: layers whose shape depends on a layer or cell inside them.

Source: the `compute_output_shape` methods of Keras 3.15 and tf_keras 2.21.
"""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.keras_model.keras_spatial_shapes import Config, Shapes, channels_first, tuple_of, window
from stethoscope.types import Shape

RECURRENT = {
    "LSTM": 2,
    "GRU": 1,
    "SimpleRNN": 1,
    "CuDNNLSTM": 2,
    "CuDNNGRU": 1,
    "LSTMV1": 2,
    "GRUV1": 1,
}
"""Class name → number of states."""
_CELL_STATES = {"LSTMCell": 2, "GRUCell": 1, "SimpleRNNCell": 1}
_CONVOLUTIONAL = {"ConvLSTM1D": 1, "ConvLSTM2D": 2, "ConvLSTM3D": 3}


def inner_layer(config: Config) -> tuple[str, Config] | None:
    """(class name, config) of the layer a wrapper wraps, or None."""
    inner = config.get("layer")
    if isinstance(inner, dict) and isinstance(inner.get("class_name"), str) and isinstance(inner.get("config"), dict):
        return inner["class_name"], inner["config"]
    return None


def cells(config: Config) -> list[tuple[str, Config]]:
    """(class name, config) of each cell of an `RNN` layer, in order."""
    cell = config.get("cell")
    if isinstance(cell, list):
        parts = cell
    elif isinstance(cell, dict) and cell.get("class_name") == "StackedRNNCells":
        inner = cell.get("config")
        parts = inner.get("cells", []) if isinstance(inner, dict) else []
    else:
        parts = [cell]
    return [
        (str(part["class_name"]), part["config"])
        for part in parts
        if isinstance(part, dict) and "class_name" in part and isinstance(part.get("config"), dict)
    ]


def recurrent_shapes(class_name: str, config: Config, inputs: Shapes) -> Shapes | None:
    """Shapes of a recurrent layer's outputs (the sequence or last state, then states if returned); None for other classes."""
    if class_name in RECURRENT:
        return _plain(inputs[0], int(config["units"]), [int(config["units"])] * RECURRENT[class_name], config)
    if class_name == "RNN":
        parts = cells(config)
        if not parts or any(name not in _CELL_STATES for name, _ in parts):
            return [None]
        states = [int(cell["units"]) for name, cell in parts for _ in range(_CELL_STATES[name])]
        return _plain(inputs[0], int(parts[-1][1]["units"]), states, config)
    if class_name in _CONVOLUTIONAL:
        return _convolutional(inputs[0], config, _CONVOLUTIONAL[class_name])
    return None


def _plain(shape: Shape | None, units: int, states: list[int], config: Config) -> Shapes:
    if shape is None:
        return [None]
    batch, time = (shape[1], shape[0]) if config.get("time_major") else (shape[0], shape[1])
    sequence = (time, batch, units) if config.get("time_major") else (batch, time, units)
    out: Shapes = [sequence if config.get("return_sequences") else (batch, units)]
    if config.get("return_state"):
        out += [(batch, size) for size in states]
    return out


def _convolutional(shape: Shape | None, config: Config, rank: int) -> Shapes:
    if shape is None:
        return [None]
    sizes = shape[3:] if channels_first(config) else shape[2:-1]
    kernel, stride = tuple_of(config["kernel_size"], rank), tuple_of(config.get("strides") or 1, rank)
    dilation = tuple_of(config.get("dilation_rate") or 1, rank)
    padding = str(config.get("padding", "valid"))
    new = [window(*item, padding) for item in zip(sizes, kernel, stride, dilation, strict=True)]
    filters = int(config["filters"])
    frame: Shape = (filters, *new) if channels_first(config) else (*new, filters)
    out: Shapes = [(*shape[:2], *frame) if config.get("return_sequences") else (shape[0], *frame)]
    if config.get("return_state"):
        out += [(shape[0], *frame)] * 2
    return out


def merged_directions(config: Config, forward: Shapes, backward: Shapes) -> Shapes:
    """Shapes of a `Bidirectional` layer from those of its two directions."""
    mode, first, second = config.get("merge_mode", "concat"), forward[0], backward[0]
    states: list[Any] = [*forward[1:], *backward[1:]]
    if first is None or second is None:
        return [None]
    if mode == "concat":
        joined = None if first[-1] is None or second[-1] is None else first[-1] + second[-1]
        return [(*first[:-1], joined), *states]
    return [first, second, *states] if mode is None else [first, *states]
