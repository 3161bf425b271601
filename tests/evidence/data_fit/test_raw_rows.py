"""Texts and rows of many shapes, beside inputs that take numbers of one: found from the file alone."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.errors import BadInput
from stethoscope.task import TaskContext
from stethoscope.tasks.profile import TASK
from stethoscope.types import Budget, ModelFile
from tests.frameworks import keras, layers

TEXTS = np.array(["a good film", "a bad one with a plot"] * 20)


def profiled(folder, model, data):
    model.save(folder / "model.keras")
    context = TaskContext(
        files={"model": ModelFile.at(folder / "model.keras"), "data": ModelFile.at(data)},
        params={},
        folder=folder,
        budget=Budget(2 << 30, 60),
        report=lambda *_args, **_kwargs: None,
        memory=None,
        open_model=None,
    )
    kept = []
    object.__setattr__(context, "save_partial", kept.append)
    try:
        return TASK.run(context)
    except BadInput:
        return kept[0]


def saved(folder, **values):
    np.savez(folder / "data.npz", **values)
    return folder / "data.npz"


def looked_up(*inputs):
    tables = [layers.GlobalAveragePooling1D()(layers.Embedding(500, 4)(one)) for one in inputs]
    return keras.Model(list(inputs), layers.Dense(2)(layers.Concatenate()(tables) if len(tables) > 1 else tables[0]))


def test_text_for_tokens(tmp_path):
    (one,) = profiled(
        tmp_path, looked_up(keras.Input((16,), name="tokens")), saved(tmp_path, x=TEXTS, y=np.zeros(40))
    ).raw
    assert (one.input, one.kind, one.array, one.shape, one.vocabulary) == ("tokens", "text", "x", (16,), 500)
    assert (one.usual_words, one.most_words) == (4, 6)


def test_text_for_several_inputs_none_of_which_is_there(tmp_path):
    model = looked_up(*(keras.Input((16,), name=name) for name in ("ids", "mask")))
    found = profiled(tmp_path, model, saved(tmp_path, text=TEXTS, y=np.zeros(40)))
    assert [(one.input, one.array) for one in found.raw] == [("ids", "text"), ("mask", "text")]


@pytest.mark.parametrize("y", [np.arange(40) % 2, np.array(["a", "b"] * 20)])
def test_numbers_are_prepared_whatever_their_labels(tmp_path, y):
    data = saved(tmp_path, x=np.ones((40, 16), np.int32), y=y)
    assert not profiled(tmp_path, looked_up(keras.Input((16,), name="tokens")), data).raw


def test_pictures_of_many_sizes(tmp_path):
    from PIL import Image

    for number, size in enumerate([(20, 30), (40, 25), (33, 33)] * 3):
        for name in ("cat", "dog"):
            (tmp_path / "pictures" / name).mkdir(parents=True, exist_ok=True)
            Image.new("RGB", size, (number * 20, 99, 200)).save(tmp_path / "pictures" / name / f"{number}.png")
    model = keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(2, 3), layers.GlobalAveragePooling2D()])
    found = profiled(tmp_path, model, tmp_path / "pictures")
    (one,) = found.raw
    assert (one.kind, one.different_sizes, one.shape) == ("picture", 3, (16, 16, 3)) and "resize" in one.code
    assert not found.inputs
