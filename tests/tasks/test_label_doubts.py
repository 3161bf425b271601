"""Doubtful labels of real data under a real (small) model."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from stethoscope.codec import answer_of
from stethoscope.evidence.judged_labels import JudgedLabels
from stethoscope.models.formats import all_formats
from stethoscope.types import Budget, Job, ModelFile, Status


def softmax_model(path, shape=("n", 3)):
    """A model that turns its input into probabilities."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))  # noqa: E731
    nodes = [helper.make_node("Softmax", ["x"], ["classes"], axis=-1)]
    graph = helper.make_graph(nodes, "g", [value("x")], [value("classes")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return ModelFile.at(path)


def rows(path, count=400, **changes):
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, count)
    x = (random.normal(size=(count, 3)) * 0.5 + 5 * np.eye(3)[truth]).astype(np.float32)
    y = truth.copy()
    y[[17, 203]] = (truth[[17, 203]] + 1) % 3
    np.savez(path, **({"x": x, "y": y} | {name: change(x, y) for name, change in changes.items()}))
    return ModelFile.at(path), truth


@pytest.fixture
def ask(engine, tmp_path):
    model = softmax_model(tmp_path / "model.onnx")

    def run(data, model=model, **params):
        job = Job(
            "label_doubts", {"model": model, "data": data}, params, Budget(2 << 30, 120), all_formats()["onnx"].worker
        )
        return engine.wait(engine.submit(job), 180)

    return run


def test_the_two_changed_labels_are_the_doubts(ask, tmp_path):
    data, truth = rows(tmp_path / "data.npz")
    result = ask(data)
    assert result.status is Status.OK, result.reason
    judged = answer_of(result, JudgedLabels)
    assert sorted(doubt.place for doubt in judged.doubts) == [17, 203]
    assert {doubt.place: doubt.predicted for doubt in judged.doubts} == {at: str(truth[at]) for at in (17, 203)}
    assert (judged.rows, judged.of, judged.count) == (400, 400, 2)
    assert judged.accuracy == pytest.approx(398 / 400)


def test_one_hot_labels_are_understood(ask, tmp_path):
    data, _ = rows(tmp_path / "data.npz", y=lambda _, y: np.eye(3, dtype=np.float32)[y])
    assert answer_of(ask(data), JudgedLabels).count == 2


def test_what_is_prepared_is_what_the_model_gets(ask, tmp_path):
    data, _ = rows(tmp_path / "data.npz", x=lambda x, _: x / 100)
    steps = [{"step": "scale", "of": "x", "factor": 100.0, "offset": 0.0}]
    assert (
        answer_of(ask(data), JudgedLabels).count == 0
        or answer_of(ask(data), JudgedLabels).doubts[0].probability_given > 0.3
    )
    assert answer_of(ask(data, preparation=steps), JudgedLabels).count == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _, y: y + 1, "from 1 to 3"),
        (lambda x, _: x.mean(axis=1), "regression"),
        (lambda _, y: np.ones((len(y), 3), np.int64), "several labels"),
    ],
)
def test_where_doubts_make_no_sense_it_says_why(ask, tmp_path, change, said):
    data, _ = rows(tmp_path / "data.npz", y=change)
    judged = answer_of(ask(data), JudgedLabels)
    assert judged.possible is False and said in judged.why_not


def test_without_labels_it_says_so(ask, tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros((30, 3), np.float32))
    judged = answer_of(ask(ModelFile.at(tmp_path / "data.npz")), JudgedLabels)
    assert "no labels" in judged.why_not


def test_a_class_for_each_step_is_not_judged(ask, tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros((30, 5, 3), np.float32), y=np.zeros((30, 5), np.int64))
    model = softmax_model(tmp_path / "steps.onnx", ("n", 5, 3))
    result = ask(ModelFile.at(tmp_path / "data.npz"), model=model)
    assert answer_of(result, JudgedLabels).possible is False


def test_data_that_does_not_fit_is_a_sentence(ask, tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros((30, 7), np.float32), y=np.zeros(30, np.int64))
    result = ask(ModelFile.at(tmp_path / "data.npz"))
    assert result.status is Status.FAILED and not result.incident and "7" in result.reason
