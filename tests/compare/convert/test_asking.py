"""What is asked of a source: no more rows than take little time, and nothing twice."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from stethoscope.compare.convert import asking
from stethoscope.compare.convert.asking import Remembering, measured, measured_in_time
from stethoscope.data.batching import Batching
from stethoscope.models.model_format import Ends
from stethoscope.types import TensorSpec

FEED = {"x": np.arange(16, dtype=np.float32).reshape(8, 2)}


class Memory:
    """A meter that finds nothing."""

    def reset(self) -> None:
        pass

    def peak_bytes(self) -> int:
        return 0

    def added_bytes(self) -> int:
        return 0


@dataclass
class Doubling:
    """A model that takes so long for a row; each call answers a little more where it drifts."""

    row_s: float = 0.0
    drift: float = 0.0
    rows: int | None = None
    """In every call; None for any."""
    calls: list[int] = field(default_factory=list)

    @property
    def inputs(self):
        return (TensorSpec("x", (self.rows, 2), "float32"),)

    def forget(self) -> None:
        pass

    def predict(self, feed):
        self.calls.append(len(feed["x"]))
        time.sleep(self.row_s * len(feed["x"]))
        return {"y": 2 * feed["x"] + self.drift * len(self.calls)}


def asked(model, feed=FEED):
    batching = Batching.of(model.inputs)
    remembering = Remembering(model)
    remembering.predict(batching.part(feed, 0, model.rows or 1))
    return measured_in_time(model, remembering, feed, batching, Ends(), Memory())


def test_a_quick_source_answers_all_rows():
    rows, answered = asked(Doubling())
    assert len(rows["x"]) == 8
    np.testing.assert_array_equal(answered.outputs["y"], 2 * FEED["x"])


@pytest.mark.parametrize("rows", [None, 2])
def test_a_slow_source_is_asked_one_call_more(monkeypatch, rows):
    monkeypatch.setattr(asking, "_COMPARED_S", 1e-4)
    model = Doubling(row_s=0.001, rows=rows)
    fed, answered = asked(model)
    assert len(fed["x"]) == (rows or 1) == len(answered.outputs["y"])
    assert model.calls == [rows or 1] * 2
    assert answered.time_s >= 0.001


def test_an_answer_to_other_rows_is_not_taken():
    remembering = Remembering(Doubling())
    remembering.predict({"x": FEED["x"][:1]})
    assert remembering.answer({"x": FEED["x"][1:2]}) is None
    assert remembering.answer({"z": FEED["x"][:1]}) is None
    np.testing.assert_array_equal(remembering.answer({"x": FEED["x"][:1]})["y"], 2 * FEED["x"][:1])


def test_the_second_answer_is_that_of_another_call():
    answered = measured(Doubling(drift=1.0), FEED, Ends(), Memory())
    assert float((answered.again["y"] - answered.outputs["y"]).max()) == 1.0
