"""TFLite files in int8 with one range that is too narrow: edited in the flatbuffer, or found with the wrong rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_SAME_SCALE = (
    "MAX_POOL_2D",
    "AVERAGE_POOL_2D",
    "RESHAPE",
    "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR",
    "PAD",
    "TRANSPOSE",
    "SQUEEZE",
    "EXPAND_DIMS",
)
"""Operators that copy codes: what they answer has the scale of what they read."""
_NO_RESCALING = ("CONCATENATION", "STRIDED_SLICE", "SPLIT", "PACK", "GATHER", "MAXIMUM", "MINIMUM", "SLICE")
"""Operators that LiteRT refuses when their scales differ."""
_WITH_BIAS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


@dataclass(frozen=True)
class RangePlant:
    """One range that is wrong."""

    kind: str
    causes: tuple[str, ...]
    operators: tuple[str, ...] = ()
    """Types of operators whose answer is edited; none: the rows that ranges are found with are at fault."""
    share: float = 1.0
    """Of the range that is left."""
    moved: int = 0
    """Steps by which the zero point is moved, which cuts off one end."""
    calibration: float = 1.0
    """What the rows are multiplied with that ranges are found with."""
    of_weights: bool = False
    """Whether the scale of the weights is edited, not that of the answer."""


def range_plants(random: np.random.Generator) -> list[tuple[str, RangePlant]]:
    """(family, plant) of every kind."""
    clipped = ("clipped-range",)
    scaled = ("scaled-weights", "weights", "scale")
    share, moved = float(random.uniform(0.15, 0.3)), int(random.choice([-110, 110]))
    return [
        ("vision", RangePlant("range of a convolution clipped", clipped, ("CONV_2D", "DEPTHWISE_CONV_2D"), share)),
        (
            "vision",
            RangePlant("zero point of a convolution moved", clipped, ("CONV_2D", "DEPTHWISE_CONV_2D"), moved=110),
        ),
        ("vision", RangePlant("range of a sum clipped", clipped, ("ADD",), share)),
        ("vision", RangePlant("range of a dense layer clipped", clipped, ("FULLY_CONNECTED",), share)),
        ("vision", RangePlant("quantised for darker pictures", clipped, calibration=0.3)),
        ("vision", RangePlant("scale of a kernel wrong", scaled, _WITH_BIAS, 1.4, of_weights=True)),
        (
            "encoder",
            RangePlant("range of a matrix product clipped", clipped, ("FULLY_CONNECTED", "BATCH_MATMUL"), share),
        ),
        ("encoder", RangePlant("zero point of a matrix product moved", clipped, ("FULLY_CONNECTED",), 0.5, moved)),
        ("encoder", RangePlant("range of a sum clipped", clipped, ("ADD",), share)),
        ("encoder", RangePlant("quantised for smaller values", clipped, calibration=0.3)),
        ("mobile", RangePlant("range of a convolution clipped", clipped, ("CONV_2D", "DEPTHWISE_CONV_2D"), share)),
        ("mobile", RangePlant("quantised for darker pictures", clipped, calibration=0.3)),
    ]


def full_int8(model: Any, rows: np.ndarray) -> bytes:
    """The model with weights and answers in int8, ranges found with the rows."""
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([row[None]] for row in rows)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def edited(
    content: bytes, plant: RangePlant, layers: list[str], rows: np.ndarray, random: np.random.Generator
) -> tuple[bytes, tuple[str, ...]]:
    """(the file with a plant at an operator drawn at random, the layers that it may be named by).

    The range is halved (the factor doubled) until the answers move by more than quantising may move them: less is no fault, and `compare`
    is not asked.

    Args:
        content: the file as it should be.
        plant: what to edit.
        layers: the model's, by name.
        rows: what the answers are looked at for.
        random: draws.

    Raises:
        ValueError: no draw moves the answers.
    """
    before = _answers(content, rows)
    for attempt in range(24):
        graph = _Graph(content)
        places = [
            place
            for place, operator in enumerate(graph.operators)
            if graph.kind(operator) in plant.operators
            and graph.can_change(operator)
            and graph.layers_of(operator, layers)
        ]
        if attempt % 4 == 0:
            place = int(random.choice(places))
        operator = graph.operators[place]
        share = plant.share ** (1 + attempt % 4) if plant.share > 1 else plant.share / 2 ** (attempt % 4)
        if plant.of_weights:
            graph.scale_weights(operator, share)
        else:
            graph.scale_answer(operator.outputs[0], share, plant.moved)
        packed = graph.packed()
        moved = _answers(packed, rows) - before
        if float(np.linalg.norm(moved)) > _FAULT * float(np.linalg.norm(before)):
            return packed, graph.layers_of(operator, layers)
    raise ValueError(f"{plant.kind}: nothing drawn moves the answers")


_FAULT = 0.4
"""Of the answers: what a fault moves them by at least."""


def _answers(content: bytes, rows: np.ndarray) -> np.ndarray:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    taken, given = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    found = []
    for row in rows:
        scale, zero = taken["quantization"]
        interpreter.set_tensor(taken["index"], np.clip(np.round(row[None] / scale) + zero, -128, 127).astype(np.int8))
        interpreter.invoke()
        scale, zero = given["quantization"]
        found.append(scale * (interpreter.get_tensor(given["index"]).astype(np.float64) - zero))
    return np.concatenate(found)


class _Graph:
    """The objects of a flatbuffer."""

    def __init__(self, content: bytes) -> None:
        from ai_edge_litert import schema_py_generated as schema

        self._model = schema.ModelT.InitFromPackedBuf(content)
        self._kinds = {value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)}
        self._graph = self._model.subgraphs[0]
        self.operators: list[Any] = list(self._graph.operators)

    def packed(self) -> bytes:
        import flatbuffers

        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self._model.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

    def kind(self, operator: Any) -> str:
        code = self._model.operatorCodes[operator.opcodeIndex]
        return self._kinds[max(code.builtinCode, code.deprecatedBuiltinCode)]

    def layers_of(self, operator: Any, layers: list[str]) -> tuple[str, ...]:
        """Those whose names the operator's answer carries, and those after it that only copy codes."""
        named = set()
        for number in (operator.outputs[0], *self._copies(operator.outputs[0])):
            parts = re.split(r"[/;:]+", self._graph.tensors[number].name.decode())
            named |= {re.sub(r"_\d+$", "", part) for part in parts} | set(parts)
        return tuple(layer for layer in layers if layer in named)

    def can_change(self, operator: Any) -> bool:
        """Whether the answer is int8, no end of the model, and read only by what takes any scale."""
        mine = (operator.outputs[0], *self._copies(operator.outputs[0]))
        if any(self._graph.tensors[one].type != 9 or one in list(self._graph.outputs) for one in mine):
            return False
        return not any(self.kind(reader) in _NO_RESCALING for one in mine for reader in self._readers(one))

    def scale_answer(self, number: int, share: float, moved: int) -> None:
        """Narrows what a tensor can hold; what reads it is told, so that nothing but the cut remains."""
        for one in (number, *self._copies(number)):
            said = self._graph.tensors[one].quantization
            said.scale = [np.float32(scale * share) for scale in said.scale]
            said.zeroPoint = [int(np.clip(zero + moved, -128, 127)) for zero in said.zeroPoint]
            for reader in self._readers(one):
                if self.kind(reader) in _WITH_BIAS and reader.inputs[0] == one:
                    self._scale_bias(reader, share)

    def scale_weights(self, operator: Any, share: float) -> None:
        """Every weight of an operator times a factor, by the scale alone."""
        said = self._graph.tensors[operator.inputs[1]].quantization
        said.scale = [np.float32(scale * share) for scale in said.scale]
        self._scale_bias(operator, share)

    def _scale_bias(self, operator: Any, share: float) -> None:
        if len(operator.inputs) < 3 or operator.inputs[2] < 0:
            return
        tensor = self._graph.tensors[operator.inputs[2]]
        tensor.quantization.scale = [np.float32(scale * share) for scale in tensor.quantization.scale]
        buffer = self._model.buffers[tensor.buffer]
        codes = np.frombuffer(np.asarray(buffer.data, np.uint8).tobytes(), np.int32)
        buffer.data = np.round(codes / share).astype(np.int32).view(np.uint8)

    def _readers(self, number: int) -> Iterator[Any]:
        return (one for one in self.operators if number in list(one.inputs))

    def _copies(self, number: int) -> list[int]:
        found: list[int] = []
        for reader in self._readers(number):
            if self.kind(reader) in _SAME_SCALE and reader.inputs[0] == number:
                found += [reader.outputs[0], *self._copies(reader.outputs[0])]
        return found
