"""A file that is no model of ours is named for what it is, with what to do; nothing ever raises."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sample_models import BUILT
from stethoscope.errors import UnreadableFile
from stethoscope.models.containers.archive import open_archive
from stethoscope.models.containers.damage import is_tar
from stethoscope.models.foreign import what_is_it
from stethoscope.models.formats import detect
from stethoscope.types import ModelFile
from tests.exploring import examples
from tests.tables import each


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, b"content")
    return out.getvalue()


def array(save: object) -> bytes:
    out = io.BytesIO()
    save(out, np.zeros(3))  # type: ignore[operator]
    return out.getvalue()


def tarred(name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name))
    return out.getvalue()


SAFETENSORS = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
OF_TF, OF_PT = (SAFETENSORS.replace(b"{", b'{"__metadata__":{"format":"%s"},' % kind, 1) for kind in (b"tf", b"pt"))
META_GRAPH = b"\x0a\x04\x2a\x02\x31\x2e\x12\x14\x0a\x12\x0a\x01x\x12\x0bPlaceholder\x1a\x00"

CASES = [
    ("m.tflite", b"", "is empty (0 bytes)"),
    ("m.h5", b"<!DOCTYPE html>\n<html><head><title>404</title>", "an HTML page, not a model"),
    ("m.h5", b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 5\n", "a Git LFS pointer"),
    ("m.json", b'{"modelTopology": {}, "weightsManifest": []}', "TensorFlow.js"),
    ("m.json", b'{"class_name": "Sequential", "config": {}}', "Keras architecture as JSON"),
    ("config.json", b'{"architectures": ["Bert"], "model_type": "bert"}', "Hugging Face"),
    ("a.ipynb", b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', "Jupyter notebook"),
    ("a.json", b'{"a": 1}', "a JSON document"),
    ("a.txt", "Grüße an alle\n".encode(), "plain text"),
    ("m.tflite", b"not really", "plain text, not a TFLite file"),
    ("a.csv", b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "a table of values (CSV)"),
    ("a.xml", b"<annotation>\n<folder>x</folder></annotation>", "an XML document"),
    ("a.record", struct.pack("<QI", 3, 0x0E4999B0) + b"abc\0\0\0\0", "a TFRecord file"),
    ("fingerprint.pb", b"\x08\x9c\xfe\x01\x10\x9c\xfe\x01", "by its name one part of a SavedModel"),
    ("a.py", b"import keras\nkeras.Model()\n", "source code"),
    ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "an image"),
    ("a.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 50, "an image"),
    ("a.gif", b"GIF89a" + b"\0" * 50, "an image"),
    ("a.pdf", b"%PDF-1.7\n", "a PDF document"),
    ("a.wav", b"RIFF\0\0\0\0WAVEfmt ", "a sound or video file"),
    ("a.pkl", pickle.dumps({"a": 1}), "a pickle of a Python object, which runs code when opened"),
    ("a.joblib", b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x0fsklearn.svm._classes", "a pickle of a scikit-learn model"),
    ("a.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a PyTorch checkpoint in the old pickle form"),
    ("a.pth", zipped("archive/data.pkl", "archive/data/0"), "a PyTorch checkpoint"),
    ("a.pt", zipped("m/data.pkl", "m/constants.pkl"), "a TorchScript model"),
    ("a.safetensors", struct.pack("<Q", len(SAFETENSORS)) + SAFETENSORS + b"\0" * 4, "a safetensors file"),
    ("tf.safetensors", struct.pack("<Q", len(OF_TF)) + OF_TF + b"\0" * 4, "save_pretrained"),
    ("pt.safetensors", struct.pack("<Q", len(OF_PT)) + OF_PT + b"\0" * 4, "optimum-cli"),
    ("a.gguf", b"GGUF\x03\0\0\0", "a GGUF language model"),
    ("a.npy", array(np.save), "a NumPy array (.npy)"),
    ("a.npz", array(np.savez), "a NumPy archive (.npz)"),
    (
        "events.out.tfevents.1.host",
        b"\x18\0\0\0\0\0\0\0abcd\t\0\0\0\0\0\0\xd8A\x1a\rbrain.Event:2",
        "a TensorBoard event file",
    ),
    ("model.ckpt.index", b"\0" * 60 + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb", "the index of a TensorFlow checkpoint"),
    ("model.ckpt.data-00000-of-00001", b"\x9a\xbc\xde\xf0" * 50, "the data part of a TensorFlow checkpoint"),
    ("checkpoint", b'model_checkpoint_path: "model.ckpt-10"\n', "the list of a folder's TensorFlow checkpoints"),
    ("model.ckpt.meta", META_GRAPH, "a TensorFlow 1 MetaGraph"),
    ("a.mlmodel", b"\x08\x04\x12\x02\x0a\x00\xa2\x1f\x02\x0a\x00", "a Core ML model"),
    ("b.mlmodel", b"\x08\x01\x12\x05\x0a\x03\x0a\x01x\xa2\x1f\x02\x0a\x00", "a Core ML model"),
    ("yolo.cfg", b"[net]\nbatch=1\n[convolutional]\nfilters=32\n", "a Darknet configuration"),
    ("yolo.weights", struct.pack("<iii", 0, 2, 5) + b"\0" * 8 + b"\x9c" * 90, "Darknet weights"),
    ("a.prototxt", b'layer {\n name: "a"\n bottom: "data"\n top: "a"\n}\n', "a Caffe network"),
    ("a.engine", b"ftrt\0\0\0\0", "a TensorRT engine"),
    ("a.ort", b"\x20\0\0\0ORTM\0\0\0\0", "onnxruntime's own .ort form"),
    ("a.gz", gzip.compress(b"hello"), "a single gzip-compressed file"),
    ("a.tar.gz", tarred("notes.md"), "a .tar.gz without a model in it (it starts with notes.md)"),
    ("a.gz", gzip.compress(b"hello")[:12], "gzip-compressed, but incomplete"),
    ("a.h5.bz2", bz2.compress(b"hello"), "Decompress it (bunzip2)"),
    ("a.h5.xz", lzma.compress(b"hello"), "Decompress it (unxz)"),
    ("a.tar.bz2", bz2.compress(gzip.decompress(tarred("notes.md"))), "a .tar.bz2 without a model in it"),
    ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", "a 7z archive"),
    ("a.rar", b"Rar!\x1a\x07\x01\0", "a RAR archive"),
    ("a.zip", zipped("a/1.png", "a/2.jpg", "labels.txt"), "a ZIP of 2 images"),
    ("a.zip", zipped("readme.md", "model.h5"), "a ZIP archive around model.h5"),
    ("a.zip", zipped("variables/variables.index"), "variables without its saved_model.pb"),
    ("a.zip", zipped("readme.md"), "a ZIP archive with readme.md and no model in it"),
    ("a.keras", zipped("config.json")[:40], "the upload is incomplete"),
    ("a.so", b"\x7fELF\x02\x01\x01", "a program or library"),
    ("a.exe", b"MZ\x90\0", "a program or library"),
    ("a.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 90, "an HDF5 file without a Keras model"),
    ("a.h5", b"\0" * 5000, "5,000 bytes that start with zeros"),
    ("a.tflite", b"\x9c\xfe\x01\x00\x7f" * 99, "not a TFLite file: the name ends in .tflite"),
    ("a.pb", b"\x9c\xfe\x01\x00\x7f" * 99, "not a TensorFlow graph or SavedModel: the name ends in .pb"),
    ("a.dat", b"\x9c\xfe\x01\x00\x7f" * 99, "binary data of a kind not known here"),
]


@each(("name", "content", "sentence"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_it_is_named_with_what_to_do(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    said = what_is_it(ModelFile(path, name))
    assert sentence in said
    assert said.startswith("is ") and said.count(". ") >= 1 and said.endswith("."), "a sentence, and what to do"


@each("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_one_compressed_file_is_refused_for_what_it_is(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Not with what tarfile tried."""
    path = tmp_path / "digits_cnn.keras.packed"
    path.write_bytes(pack((BUILT / "digits_cnn.keras").read_bytes()))
    with pytest.raises(UnreadableFile) as refused:
        detect(ModelFile.at(path))
    assert str(refused.value) == f"{path.name}: {what_is_it(ModelFile.at(path))}"
    assert "\n" not in str(refused.value) and ".tflite" in str(refused.value)
    with pytest.raises(UnreadableFile) as refused, open_archive(ModelFile.at(path)):
        pytest.fail("opened")
    assert "\n" not in str(refused.value) and "no tar" in str(refused.value)


def test_a_tar_that_is_cut_is_a_damaged_archive(tmp_path: Path) -> None:
    path = tmp_path / "model.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        packed.add(BUILT / "digits_cnn.keras", "digits_cnn.keras")
    path.write_bytes(path.read_bytes()[:-2000])
    assert is_tar(path)
    with pytest.raises(UnreadableFile) as refused:
        detect(ModelFile.at(path))
    assert "single" not in str(refused.value) and "\n" not in str(refused.value)


def test_a_core_ml_model_is_no_saved_model(tmp_path: Path) -> None:
    name, content, sentence = next(case for case in CASES if case[0] == "b.mlmodel")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=sentence):
        detect(ModelFile.at(path))


def test_a_folder_and_a_missing_file_are_named_too(tmp_path: Path) -> None:
    assert "empty folder" in what_is_it(ModelFile.at(tmp_path))
    assert what_is_it(ModelFile.at(tmp_path / "gone")).startswith("cannot be read")


def test_hostile_member_names_do_not_pass_through(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped("\u202etxt.\x1b[31m" + "x" * 500))
    said = what_is_it(ModelFile.at(path))
    assert said.isprintable() and len(said) < 300


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.sampled_from([content[:40] for _, content, _ in CASES]),
    rest=st.binary(max_size=400),
    suffix=st.sampled_from([".tflite", ".onnx", ".pb", ".h5", ".keras", ".zip", ".weights", ".caffemodel", ""]),
)
def test_it_never_raises(tmp_path: Path, start: bytes, rest: bytes, suffix: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes(start + rest)
    said = what_is_it(ModelFile(path, f"m{suffix}"))
    assert said.startswith("is ") and said.endswith(".")
