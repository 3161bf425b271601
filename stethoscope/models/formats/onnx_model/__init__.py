"""Behind the ONNX format: tensors left on disk, layers, shapes, hazards, and the runner."""
