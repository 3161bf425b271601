"""What is read of files of several kinds, and what becomes of it when two are compared."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from stethoscope.data import open_data
from stethoscope.drift.measures import as_seconds, seconds_of, written
from stethoscope.drift.reading import Side, read_side
from stethoscope.drift.settings import DriftSettings
from stethoscope.types import ModelFile
from tests.drift.sides import compared

BUDGET = 1 << 30


def read(path, **settings) -> Side:
    file = ModelFile.at(path)
    with open_data(file, BUDGET) as data:
        return read_side(data, file.name, DriftSettings.from_json(settings), lambda *_: None)


def named(found):
    return {row.name: row for row in found.features}


def test_arrays_and_one_hot_labels(tmp_path):
    generator = np.random.default_rng(0)
    for name in ("then", "now"):
        classes = generator.choice(3, 120, p=[0.8, 0.1, 0.1] if name == "now" else [0.3, 0.3, 0.4])
        np.savez(
            tmp_path / f"{name}.npz",
            x=generator.normal(size=(120, 5)),
            wide=generator.normal(size=(120, 20, 20)),
            y=np.eye(3)[classes],
        )
    first, second = (read(tmp_path / f"{name}.npz") for name in ("then", "now"))
    rows = named(compared(first, second))
    assert {"x[0]", "x[4]"} <= rows.keys() and rows["y"].role == "label" and rows["y"].drifted
    assert any(name.startswith("wide: ") for name in rows)
    assert not any(row.drifted for name, row in rows.items() if name != "y")


def test_tables_are_sampled_and_say_so(tmp_path):
    lines = ["id,amount,when,city"]
    lines += [f"{row},{row % 37 / 3},2026-01-{row % 28 + 1:02d},{'ABC'[row % 3]}" for row in range(9_000)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    found = read(tmp_path / "rows.csv", rows=500)
    assert found.used == 500 and found.rows == 9_000 and found.sampled
    assert "500 of 9,000 rows" in " ".join(found.notes) and "id" not in found.fields
    assert found.fields["when"].moments is not None and set(found.fields["city"].words) == {"A", "B", "C"}
    # Each row is as likely as the next.
    assert 3_500 < found.places.mean() < 5_500
    again = read(tmp_path / "rows.csv", rows=500)
    np.testing.assert_array_equal(found.places, again.places)


def test_texts(tmp_path):
    words = np.array(["the", "a", "film", "was", "good", "bad", "long", "story", "actors", "and", "music", "plot"])
    new = np.array(["router", "packet", "switch", "firmware", "patch", "kernel", "module", "driver"])
    generator = np.random.default_rng(0)
    for name, vocabulary in (("then", words), ("same", words), ("now", np.r_[words[:6], new])):
        rows = [{"text": " ".join(generator.choice(vocabulary, generator.integers(8, 20)))} for _ in range(150)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    then, same, now = (read(tmp_path / f"{name}.jsonl") for name in ("then", "same", "now"))
    drifted = [row.name for row in compared(then, now).features if row.drifted]
    assert any(name.startswith("text: ") and "unknown words" in name for name in drifted)
    for other in (same, then):
        found = compared(then, other)
        assert found.verdict == "no_drift", found.fired


def test_images_in_a_zip(tmp_path):
    generator = np.random.default_rng(0)
    for name, light in (("then", 1.0), ("now", 0.6)):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for number in range(40):
                pixels = generator.integers(0, 255, (12, 16, 3)) * light * generator.uniform(0.8, 1)
                stream = BytesIO()
                Image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
                archive.writestr(f"{'cats' if number % 2 else 'dogs'}/{number}.png", stream.getvalue())
            archive.writestr("cats/broken.png", b"\x89PNG\r\n\x1a\n broken")
    first, second = (read(tmp_path / f"{name}.zip") for name in ("then", "now"))
    assert first.used == 40 and first.damaged == 1 and "1 rows could" in " ".join(first.notes)
    rows = {name.rsplit(": ", 1)[-1]: row for name, row in named(compared(first, second)).items()}
    assert rows["brightness"].drifted and rows["contrast"].drifted
    assert not rows["saturation"].drifted and not rows["width"].drifted
    assert [row for row in rows.values() if row.role == "label"]


def test_a_log_of_predictions(tmp_path):
    generator = np.random.default_rng(0)
    lines = ["timestamp,prediction,confidence,label"]
    for row in range(1_200):
        truth = generator.choice(["cat", "dog"])
        right = generator.random() < (0.6 if row > 800 else 0.9)
        guess = truth if right else {"cat": "dog", "dog": "cat"}[truth]
        known = truth if row < 1_100 else ""
        lines.append(f"2026-02-{1 + row // 50:02d}T{row % 24:02d}:00:00,{guess},{generator.beta(5, 2):.3f},{known}")
    (tmp_path / "log.csv").write_text("\n".join(lines))
    found = compared(read(tmp_path / "log.csv"), None)
    log = found.log
    assert log is not None
    assert (log.time, log.prediction, log.confidence, log.label) == ("timestamp", "prediction", "confidence", "label")
    rows = named(found)
    assert rows["accuracy"].drifted and rows["prediction"].role == "prediction"
    assert not rows["confidence"].drifted and "label (missing)" not in rows
    stretches = found.over_time.stretches
    assert found.over_time.measure == "accuracy" and {one.side for one in stretches} == {"reference", "current"}
    late = [one for one in stretches if one.start > "2026-02-18" and one.n_labelled]
    assert late and all(one.out_of_control and one.low < one.value < one.high for one in late)
    assert not any(one.out_of_control for one in stretches if one.side == "reference")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02", "2026-01-02T00:00:00+00:00"),
        ("2.1.2026", "2026-01-02T00:00:00+00:00"),
        ("2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05+00:00"),
    ],
)
def test_moments(text, expected):
    assert written(float(seconds_of([text])[0])) == expected
    assert np.isnan(seconds_of(["soon", ""])).all()
    np.testing.assert_allclose(as_seconds(np.array([1.7e12, np.nan, 1.8e12])), [1.7e9, np.nan, 1.8e9])


def test_days_that_repeat_are_moments_and_only_their_gaps_are_compared(tmp_path):
    for name, year in (("then", 2024), ("now", 2025)):
        lines = [f"{row % 7 / 2},{year}-03-{row % 5 + 1:02d}" for row in range(150)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["amount,day", *lines]))
    found = compared(read(tmp_path / "then.csv"), read(tmp_path / "now.csv"), time="none")
    assert list(named(found)) == ["amount"] and found.verdict == "no_drift"
    assert "'day'" in " ".join(found.notes)
