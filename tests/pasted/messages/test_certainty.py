"""Certain is said only where the text proves the cause: neighbours that read nearly the same are not told so."""

from __future__ import annotations

import pytest

from stethoscope.pasted.reading.explaining import explain

NEIGHBOURS = {
    "cuda-driver-old": "kernel version 470.82.1 does not match DSO version 495.29.5 -- cannot find working devices",
    "device-missing": "InvalidArgumentError: Cannot assign a device for operation x: Could not satisfy explicit device specification '/device:GPU:0' because no supported kernel for GPU devices is available.",
    "not-built": "AttributeError: The layer sequential_1 has never been called and thus has no defined output.",
    "learning-rate-not-settable": 'ValueError: Optimizer must have a "lr" attribute.',
    "disconnected-graph": "ValueError: Output tensors of a Functional model must be the output of a TensorFlow `Layer` (thus holding past layer metadata). Found: Tensor(x:0)",
    "mixed-keras": "ValueError: Only instances of `keras.Layer` can be added to a Sequential model. Received: [1] (of type <class 'list'>)",
    "metric-targets": "ValueError: Classification metrics can't handle a mix of unknown and binary targets",
    "target-shape-checked": "ValueError: Error when checking target: expected dense_2 to have shape (1,) but got array with shape (10,)",
    "class-config": "TypeError: <class 'keras.src.layers.core.dense.Dense'> could not be deserialized properly. Exception encountered: __init__() got an unexpected keyword argument 'lora_rank'",
    "class-names-lost": "AttributeError: 'TensorSliceDataset' object has no attribute 'class_names'",
    "data-set-as-array": "TypeError: 'IterableDataset' object is not subscriptable",
    "no-numpy-attribute": "AttributeError: 'PicturesDataset' object has no attribute 'numpy'",
    "out-of-memory-tensor": "ResourceExhaustedError: /tmp/model.ckpt.data; No space left on device [Op:SaveV2]",
    "binary-output-units": "loss='binary_crossentropy' ... ValueError: Shapes (None, 1) and (None, 10) are incompatible",
    "custom-op-abi": "ImportError: /home/a/envs/tf_gpu/lib/libtorch_cpu.so: undefined symbol: _ZN5torch3abcEv",
    "data-ran-out": "OutOfRangeError: End of sequence [Op:IteratorGetNext]",
    "gpu-libraries-missing": "Could not load library cudnn_cnn_infer64_8.dll. Error code 1455",
    "host-allocation": "OSError: [Errno 12] Cannot allocate memory; torch.cuda.OutOfMemoryError",
    "import-name-missing": "ImportError: cannot import name 'tf' from 'settings' (/home/a/settings.py)",
    "lambda-unsafe": "model = load_model(path, safe_mode=False)  # has a Lambda\nValueError: no such thing",
    "layer-not-initialised": "copy.deepcopy(model)\nRuntimeError: It looks like you are subclassing `Model` and you forgot to call `super().__init__()`",
    "logits-labels-size": "InvalidArgumentError: logits and labels must be same size: logits_size=[32,10] labels_size=[32,1]",
    "loop-or-branch-variable": "UnboundLocalError: 'x' is used before assignment",
    "module-missing": "ModuleNotFoundError: No module named 'numpy._core'",
    "negative-dimension": "ValueError: Dimension -5 must be >= 0",
    "no-gradient": "ValueError: An operation has `None` for gradient. Please make sure that all of your ops have a gradient defined",
    "numpy-abi": "ImportError: numpy.core.multiarray failed to import",
    "object-array": "TypeError: Failed to convert object of type <class 'NoneType'> to Tensor. Contents: None",
    "onnx-not-implemented": "NOT_IMPLEMENTED : Could not find an implementation for Elu(6) node with name 'elu'",
    "onnx-unknown-operator": "Fatal error: com.microsoft:FusedConv(-1) is not a registered function/op",
    "optimizer-argument": "AttributeError: 'Namespace' object has no attribute 'lr'",
    "ragged-rows": "ValueError: setting an array element with a sequence.",
    "record-feature": "InvalidArgumentError: Key: label.  Can't parse serialized Example.",
    "removed-api": "AttributeError: module 'tensorflow' has no attribute 'train'",
    "removed-argument": "TypeError: Loader.__init__() got an unexpected keyword argument 'workers'",
    "removed-method": "AttributeError: 'SentenceModel' object has no attribute 'predict_proba'",
    "session-graph": "RuntimeError: The Session graph is empty. Add operations to the graph before calling run().",
    "unknown-class": "ValueError: Unknown layer: 'TFOpLambda'. Please ensure you are using a `keras.utils.custom_object_scope`",
    "unknown-function": "ValueError: Unknown loss function: 'rmse'. Please ensure you are using a `keras.utils.custom_object_scope`",
    "unknown-name": "ValueError: Could not interpret the following: xyz",
    "unrecognised-keywords": "TypeError: Unrecognized keyword arguments: ['optional']",
    "weight-name-twice": "ValueError: Unable to create dataset (name already exists)",
    "xla-device-clash": "InvalidArgumentError: Trying to access resource AnonymousIterator0 located in device /device:CPU:0 from device /device:GPU:0",
}
"""By kind: a text of another cause, or of one that it does not prove."""

PROVED = {
    "conv-channels": "ValueError: The number of input channels must be evenly divisible by the number of groups. Received groups=4, but the input has 6 channels (full input shape is (None, 8, 8, 6)).",
    "metric-targets": "ValueError: Target is multiclass but average='binary'. Please choose another average setting",
    "layer-shared": "ValueError: Asked to get output at node 1, but the layer has only 1 inbound nodes.",
    "weights-unbuilt": "ValueError: Layer 'dense' expected 2 variables, but received 1 variables during loading. Expected: ['kernel', 'bias']",
    "symbolic-length": "TypeError: Cannot iterate over a scalar tensor.",
    "file-suffix": "ValueError: The `save_format` argument is deprecated in Keras 3. Please remove this argument",
    "missing-argument": "TypeError: build() takes exactly 2 arguments (3 given)",
    "onnx-input-name": "InvalidArgument: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid Output Name:scores",
    "removed-method": "AttributeError: 'Sequential' object has no attribute 'load_model'",
    "undefined-axis": "ValueError: Cannot convert a partially known TensorShape (None, 10) to a Tensor.",
    "history-not-model": "AttributeError: 'History' object has no attribute 'predict'",
    "data-set-as-array": "TypeError: '_PrefetchDataset' object is not subscriptable",
    "unknown-class": "ValueError: Unknown layer: 'Attention2'. Please ensure you are using a `keras.utils.custom_object_scope`",
    "device-missing": "RuntimeError: Could not satisfy device specification '/job:localhost/device:GPU:1'. enable_soft_placement=0. Supported device types [GPU, CPU]. All available devices [/job:localhost/device:CPU:0].",
    "out-of-memory-tensor": "ResourceExhaustedError: OOM when allocating tensor with shape[32,64,512,512] and type float on /device:GPU:0 by allocator GPU_0_bfc",
}
"""By kind: a text that says its cause, and is told with certainty."""

NOT_IN_THE_CAUSE = {
    "symbolic-length": ("len()",),
    "layer-shared": ("more than once",),
    "weights-unbuilt": ("no weights yet",),
    "metric-targets": ("one-hot",),
    "onnx-input-name": ("no input",),
    "file-suffix": ("does not end",),
    "undefined-axis": ("channels",),
}
"""What the cause of the text in `PROVED` may not claim."""


@pytest.mark.parametrize("kind", NEIGHBOURS)
def test_what_the_text_does_not_prove_is_not_told_with_certainty(kind):
    answer = explain(NEIGHBOURS[kind])
    assert (answer.kind, answer.certainty) != (kind, "certain"), answer.cause


@pytest.mark.parametrize("kind", PROVED)
def test_what_the_text_proves_is_told_with_certainty(kind):
    answer = explain(PROVED[kind])
    assert (answer.kind, answer.certainty) == (kind, "certain"), answer.cause
    assert not any(words in answer.cause for words in NOT_IN_THE_CAUSE.get(kind, ()))


def test_pip_lines_that_name_a_version_are_no_missing_package():
    answer = explain("tensorflow 2.4.0 requires h5py~=2.10.0, but you'll have h5py 3.1.0 which is incompatible.")
    assert answer.kind == "versions-conflict"
