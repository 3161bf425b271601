"""Models that only the graph viewer reads: drawn all the same, with a sentence on what cannot be done with them here."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, words
from dashboard.architecture import graph_view
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.types import Status

HEIGHT = 760
_MOST_BYTES = 1 << 30
_SUFFIXES = {
    ".pt": "PyTorch",
    ".pth": "PyTorch",
    ".pt2": "PyTorch",
    ".pte": "ExecuTorch",
    ".ptl": "PyTorch",
    ".torchscript": "TorchScript",
    ".caffemodel": "Caffe",
    ".prototxt": "Caffe",
    ".cfg": "Darknet",
    ".weights": "Darknet",
    ".mlmodel": "Core ML",
    ".mlpackage": "Core ML",
    ".param": "ncnn",
    ".mnn": "MNN",
    ".xml": "OpenVINO",
    ".pdmodel": "PaddlePaddle",
    ".pdparams": "PaddlePaddle",
    ".dlc": "SNPE",
    ".om": "Ascend",
    ".rknn": "RKNN",
    ".ms": "MindSpore",
    ".mindir": "MindSpore",
    ".mlir": "MLIR",
    ".tosa": "TOSA",
    ".nnef": "NNEF",
    ".uff": "UFF",
    ".circle": "Circle",
    ".gguf": "GGUF",
    ".safetensors": "safetensors",
    ".npz": "NumPy",
    ".kmodel": "K210",
    ".hailo": "Hailo",
    ".har": "Hailo",
    ".armnn": "Arm NN",
    ".tmfile": "Tengine",
    ".tnnproto": "TNN",
    ".nn": "Barracuda",
    ".cntk": "CNTK",
    ".model": "",
    ".json": "",
    ".bin": "",
    ".pkl": "pickle",
    ".joblib": "pickle",
    ".engine": "TensorRT",
    ".task": "MediaPipe",
    ".litertlm": "LiteRT-LM",
    ".tflite": "",
    ".onnx": "",
    ".ort": "ONNX Runtime",
    ".pb": "",
    ".pbtxt": "",
    ".t7": "Torch",
    ".params": "MXNet",
    ".dnn": "CNTK",
    ".zip": "",
    ".tar": "",
    ".h5": "",
    ".hdf5": "",
    ".keras": "",
}
"""What Netron opens, by the suffix that it tells a file by; "" where the suffix alone does not say. Source: netron/view.js."""


def only_drawn(entry: Entry, state: JobState) -> bool:
    """Whether we cannot read the file as a model, and the viewer may: refused files are not shown to it."""
    if entry.file.suffix not in _SUFFIXES or not 0 < entry.size_bytes <= _MOST_BYTES:
        return False
    result = state.result
    return (
        result is not None
        and result.status is Status.FAILED
        and result.error == "UnreadableFile"
        and not result.value.get("layers")
    )


def show(entry: Entry, state: JobState) -> None:
    """The drawing, and why there is nothing but it."""
    kind = _SUFFIXES.get(entry.file.suffix)
    with st.container(border=True):
        known_as = f", as {kind}," if kind else ""
        st.markdown(f"**Only drawn**{known_as} by the viewer Netron: nothing else here reads this file.")
        if state.result is not None and state.result.reason:
            st.caption(escape.sentences(state.result.reason))
    graph_view.show(
        entry.id, entry.name, theme=st.context.theme.type, height=HEIGHT, whole=True, key=f"graph-{entry.id}"
    )
    st.caption(f"{words.size(entry.size_bytes)} sent to your browser, which reads the file without running it.")
