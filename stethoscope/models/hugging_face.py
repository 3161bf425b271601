"""What helps whoever has a model of Hugging Face's `transformers` in TensorFlow: its classes save weights, not models.

Tried with transformers 4.56 and tf_keras 2.21: a BERT saved so, as `tf_model.h5` and as `model.safetensors`, opens and predicts here.
Version 5 has no classes for TensorFlow any more.
"""

from __future__ import annotations

AS_SAVED_MODEL = (
    "Where it was made, with transformers below version 5: TFAutoModelForSequenceClassification.from_pretrained(folder) (or the class it "
    "was saved from), then model.save_pretrained('out', saved_model=True), and give the folder out/saved_model/1: a SavedModel, which "
    "needs no class of transformers."
)
AS_ONNX = "A model of PyTorch is read as ONNX: optimum-cli export onnx --model FOLDER OUT."
