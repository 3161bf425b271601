"""A reading that goes on in another process is the reading that never stopped, whatever is damaged where."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs.event_file import EventReader
from tests.exploring import examples
from tests.logs.event_writing import event, first_record, simple, tensor

WHOLE = first_record() + b"".join(
    event(step, simple("loss", step / 3), tensor("seen", 7, b"", "images" if step == 0 else None)) for step in range(60)
)


@examples(50)
@given(
    st.lists(st.integers(1, len(WHOLE)), max_size=6),
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(1, 255)), max_size=4),
)
def test_resumed_at_any_place(ends, flips):
    content = bytearray(WHOLE)
    for place, mask in flips:
        content[place] ^= mask
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.out.tfevents.1.host"
        path.write_bytes(b"")
        staying = EventReader(path)
        state = staying.state()
        steps, media = [], 0
        for end in (*sorted(ends), len(content)):
            with path.open("r+b") as stream:
                stream.write(content[:end])
            staying.poll()
            resumed = EventReader.resumed(path, json.loads(json.dumps(state)))
            resumed.poll()
            state = resumed.state()
            steps += [one.step for tag, one in resumed.points.series().items() if tag == "loss"]
            media += sum(len(one.step) for one in resumed.points.media(0))
        expected = staying.points.series().get("loss")
        found = np.concatenate(steps).tolist() if steps else []
        assert found == ([] if expected is None else expected.step.tolist())
        assert media == sum(len(one.step) for one in staying.points.media(0))
        assert resumed.health("x") == staying.health("x")


def test_a_file_cut_and_written_over_is_another_file(tmp_path):
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(WHOLE)
    reader = EventReader(path)
    reader.poll()
    path.write_bytes(first_record() + b"".join(event(step, simple("loss", -1.0)) for step in range(100, 300)))
    assert reader.poll()
    assert reader.points.series()["loss"].step.tolist() == list(range(100, 300))
    path.write_bytes(b"")
    assert reader.poll(), "a file that lost everything has changed"
    assert reader.points.series() == {}
