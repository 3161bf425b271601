"""Recordings: kept as files and read again."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.layer_tensors import LayerTensors, Recording
from stethoscope.errors import UnreadableFile
from stethoscope.types import TensorSpec


def made(folder) -> Recording:
    layers = LayerTensors(folder / "layers")
    layers.add("dense", "dense", np.arange(6, dtype=np.float32).reshape(2, 3))
    layers.add("odd", "odd", np.full((2, 1), np.nan, np.float32))
    layers.quantised["dense"], layers.steps["dense"] = (-1.0, 1.0), 0.1
    return Recording(
        inputs=(TensorSpec("x", (None, 3), "float32"), TensorSpec("text", (None,), "string")),
        feed={"x": np.ones((2, 3), np.float32), "text": np.array(["a", "ñ"], object)},
        outputs={"y": np.array([[1.0], [np.inf]], np.float32)},
        places=np.array([0, 7]),
        layers=layers,
        layer_rows=2,
        labelled=np.array([7, 0]),
        labelled_outputs={"y": np.ones((2, 1), np.float32)},
        targets={"y": np.array([1, 0])},
        notes=["a note"],
    )


def test_what_is_saved_is_what_is_loaded(tmp_path):
    first = made(tmp_path)
    first.save(tmp_path)
    found = Recording.load(tmp_path)
    assert found.inputs == first.inputs
    assert found.feed["text"].tolist() == ["a", "ñ"]
    np.testing.assert_array_equal(found.outputs["y"], first.outputs["y"])
    assert found.places.tolist() == [0, 7]
    assert (found.labelled.tolist(), found.notes, found.layer_rows) == ([7, 0], ["a note"], 2)
    assert found.labelled_outputs["y"].shape == (2, 1) and found.targets["y"].tolist() == [1, 0]
    assert list(found.layers) == ["dense", "odd"]
    np.testing.assert_array_equal(found.layers.read("dense"), first.layers.read("dense"))
    assert found.layers.moments == first.layers.moments
    assert found.layers.quantised == {"dense": (-1.0, 1.0)}


@pytest.mark.parametrize("break_it", ["index", "array", "nothing"])
def test_what_is_no_recording_is_a_sentence(tmp_path, break_it):
    made(tmp_path).save(tmp_path)
    if break_it == "index":
        (tmp_path / "recording.json").write_text('{"feed": ')
    elif break_it == "array":
        (tmp_path / "outputs-0.npy").write_bytes(b"no array")
    else:
        (tmp_path / "recording.json").unlink()
    with pytest.raises(UnreadableFile, match="Compare again"):
        Recording.load(tmp_path)
