"""Small TFLite files made from the schema alone, without TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.models.formats.tflite_model.tflite_schema import schema


def tiny(**changes: Any) -> Any:
    """y = x + w as an object to edit: x is (?, 4) float32, w has four values. `pack` turns it into bytes."""
    s = schema()
    model = s.ModelT(version=3, description="tiny")
    model.buffers = [s.BufferT(data=[]), s.BufferT(data=np.arange(4, dtype="<f4").view(np.uint8))]
    model.operatorCodes = [s.OperatorCodeT(deprecatedBuiltinCode=0, builtinCode=0, version=1)]
    tensors = [
        s.TensorT(shape=[1, 4], shapeSignature=[-1, 4], name="x", buffer=0),
        s.TensorT(shape=[4], name="w", buffer=1),
        s.TensorT(shape=[1, 4], shapeSignature=[-1, 4], name="model/add/y", buffer=0),
    ]
    add = s.OperatorT(opcodeIndex=0, inputs=[0, 1], outputs=[2], builtinOptionsType=s.BuiltinOptions.AddOptions)
    add.builtinOptions = s.AddOptionsT(fusedActivationFunction=s.ActivationFunctionType.RELU)
    model.subgraphs = [s.SubGraphT(tensors=tensors, inputs=[0], outputs=[2], operators=[add], name="main")]
    for key, value in changes.items():
        setattr(model, key, value)
    return model


def custom(name: str) -> Any:
    """The tiny model with its operator replaced by a custom one."""
    model = tiny()
    code = schema().BuiltinOperator.CUSTOM
    model.operatorCodes = [
        schema().OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code, customCode=name, version=1)
    ]
    operator = model.subgraphs[0].operators[0]
    operator.builtinOptionsType, operator.builtinOptions = 0, None
    return model


def pack(model: Any, identifier: bytes | None = b"TFL3") -> bytes:
    """The model as a flatbuffer."""
    import flatbuffers

    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=identifier)
    return bytes(builder.Output())
