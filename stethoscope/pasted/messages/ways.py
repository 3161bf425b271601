"""The ways into the product that messages lead to: what proves a cause, as a command and as a page."""

from __future__ import annotations

from typing import Final

from stethoscope.pasted.messages.message import Way

CHECK: Final = Way("stethoscope check MODEL --data DATA --fit epochs=3", "diagnosis")
"""Shapes, labels, loss and gradients, on a copy that is trained for seconds."""
DATA: Final = Way("stethoscope check MODEL --data DATA", "data")
"""What the model expects beside what the data is."""
DESCRIBE: Final = Way("stethoscope describe MODEL", "overview")
"""What a file holds, without loading it."""
LAYERS: Final = Way("stethoscope describe MODEL", "architecture")
"""Every layer with its shapes."""
PREDICT: Final = Way("stethoscope predict MODEL --data DATA --memory-limit 4GB", "prediction")
"""A prediction in its own process, under a limit."""
SWEEP: Final = Way("stethoscope sweep MODEL --data DATA --memory-limit 8GB --advise", "memory")
"""Peak memory over batch sizes, the largest that fits, what lowers it."""
TRAINING_MEMORY: Final = Way("stethoscope sweep MODEL --train --fit optimizer=adam --memory-limit 8GB", "memory")
"""The same of `fit`."""
ENDURANCE: Final = Way("stethoscope endurance MODEL --tests leak,retracing", "memory")
"""Leaks and retracing over repeated calls."""
CARD: Final = Way("stethoscope doctor", "devices")
"""What holds a card now, what TensorFlow sees of it."""
DEVICES: Final = Way("stethoscope describe MODEL", "devices")
"""Whether a file is tied to one device, and the remedies."""
PLAN: Final = Way("stethoscope plan MODEL --device 16GB --devices 2", "planner")
"""A model over several devices, with the code."""
DOCTOR: Final = Way("stethoscope doctor", "overview")
"""What is installed."""
CONVERT_TFLITE: Final = Way("stethoscope convert MODEL --to tflite --out model.tflite", "convert")
"""Converted, loaded and run; the operator and layer that stand in the way."""
CONVERT_ONNX: Final = Way("stethoscope convert MODEL --to onnx --out model.onnx", "convert")
"""The same for ONNX."""
CONVERT_INT8: Final = Way("stethoscope convert MODEL --to tflite-int8 --data DATA --out model.tflite", "convert")
"""Whole numbers, with rows to measure ranges by."""
CURVES: Final = Way("stethoscope curves LOGDIR", "training")
"""What the logs of a training say."""
ACTIVATIONS: Final = Way("stethoscope activations MODEL --data DATA", "activations")
"""Every layer's output, where NaN begins."""
