"""The digits classifier that several specimens share, and its accuracy in each runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sample_models import datasets

PARAMETERS = 21_546
MINIMUM_ACCURACY = 0.97
DATA = "digits_sample.npz"


def network() -> Any:
    """The untrained classifier: two convolutions, pooling, two dense layers; input "image" of shape (8, 8, 1)."""
    import keras
    from keras import layers

    return keras.Sequential(
        [
            layers.Input((8, 8, 1), name="image"),
            layers.Conv2D(16, 3, padding="same", activation="relu", name="edges"),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="strokes"),
            layers.MaxPooling2D(name="pool"),
            layers.Flatten(name="flatten"),
            layers.Dropout(0.3, name="dropout"),
            layers.Dense(32, activation="relu", name="hidden"),
            layers.Dense(10, activation="softmax", name="digit"),
        ],
        name="digits_cnn",
    )


def trained(folder: Path) -> Any:
    """The trained classifier: read from `folder` where it was built already, else trained."""
    import keras

    file = folder / "digits_cnn.keras"
    if file.exists():
        return keras.models.load_model(file)
    data, model = datasets.digits(), network()
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(data.x_train, data.y_train, epochs=20, batch_size=32, verbose=0)
    return model


def inference(folder: Path) -> tuple[Any, list[Any]]:
    """The trained classifier as a traced function {"digit": …} and its input signature, for exporters."""
    import tensorflow as tf

    model = trained(folder)
    signature = [tf.TensorSpec((None, 8, 8, 1), tf.float32, name="image")]
    return tf.function(lambda image: {"digit": model(image, training=False)}, input_signature=signature), signature


def accuracy(predict: Callable[[npt.NDArray[np.float32]], npt.NDArray[Any]]) -> dict[str, float]:
    """Held-out accuracy of `predict`: images (n, 8, 8, 1) → scores (n, 10).

    Raises:
        ValueError: it is below `MINIMUM_ACCURACY`.
    """
    data = datasets.digits()
    hits = float(np.mean(np.argmax(predict(data.x_test), axis=-1) == data.y_test))
    if hits < MINIMUM_ACCURACY:
        raise ValueError(f"Digits classifier: expected an accuracy of at least {MINIMUM_ACCURACY}, got {hits:.4f}.")
    return {"accuracy": round(hits, 4)}


def keras_accuracy(file: Path) -> dict[str, float]:
    """Held-out accuracy of a Keras 3 file."""
    import keras

    model = keras.models.load_model(file)
    return accuracy(lambda images: np.asarray(model.predict_on_batch(images)))


def tflite_accuracy(file: Path) -> dict[str, float]:
    """Held-out accuracy of a TFLite file, quantising images where its input is quantised."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(file))
    source, target = interpreter.get_input_details()[0], interpreter.get_output_details()[0]

    def predict(images: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        interpreter.resize_tensor_input(source["index"], images.shape)
        interpreter.allocate_tensors()
        scale, zero = source["quantization"]
        quantised = np.clip(np.round(images / scale) + zero, -128, 127).astype(np.int8) if scale else images
        interpreter.set_tensor(source["index"], quantised)
        interpreter.invoke()
        return np.asarray(interpreter.get_tensor(target["index"]))

    return accuracy(predict)


def onnx_accuracy(file: Path) -> dict[str, float]:
    """Held-out accuracy of an ONNX file in onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return accuracy(lambda images: np.asarray(session.run(None, {name: images})[0]))


def frozen_accuracy(file: Path) -> dict[str, float]:
    """Held-out accuracy of a frozen graph with placeholder "image" and result "digit"."""
    import tensorflow as tf

    definition = tf.compat.v1.GraphDef.FromString(file.read_bytes())
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(definition, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return accuracy(lambda images: np.asarray(session.run("digit:0", {"image:0": images})))
