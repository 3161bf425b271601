"""What is read in steps is what is read at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stethoscope.logs.runs.facts import RunFacts
from stethoscope.logs.runs.table import RunTable
from stethoscope.logs.tensorboard import EventFolder
from stethoscope.tasks.read_runs import gather
from tests.logs.event_writing import event, first_record, simple, write_events
from tests.logs.runs.logs import read


def points(first: int, last: int, tag: str = "loss") -> bytes:
    return b"".join(event(step, simple(tag, step / 8)) for step in range(first, last))


def test_a_log_that_grows_is_the_log_as_a_whole(tmp_path):
    place = tmp_path / "logs"
    content = first_record() + points(0, 40) + points(30, 50) + points(50, 60, "accuracy")
    folder = place / "a"
    folder.mkdir(parents=True)
    segments, state = [], None
    for at, end in enumerate((7, 300, 301, 1500, len(content) - 3, len(content))):
        (folder / "events.out.tfevents.1.host").write_bytes(content[:end])
        segment, state = read(place, tmp_path / f"out{at}", state)
        state = json.loads(json.dumps(state))
        segments.append(segment)
    table, (whole,) = RunTable(segments), EventFolder(place).poll()
    assert table.tags == ("loss", "accuracy")
    for tag, series in whole.series.items():
        found = table.series(0, tag)
        assert found.step.tolist() == series.step.tolist()
        assert found.value.tolist() == series.value.tolist()
        assert found.wall_time.tolist() == series.wall_time.tolist()
    assert table.runs[0].restarts == whole.health.restarts == (30,)
    assert table.runs[0].problem == ""


def test_nothing_new_is_told_so(tmp_path):
    write_events(tmp_path / "logs" / "a", [points(0, 3)])
    found, changed = gather(tmp_path / "logs")
    assert changed
    _, changed = gather(tmp_path / "logs", found.state)
    assert not changed


def test_an_older_file_that_still_grows_stays_in_its_place(tmp_path):
    place = tmp_path / "logs"
    old = write_events(place / "a", [points(0, 2)], "events.out.tfevents.1.host")
    write_events(place / "a", [points(10, 12)], "events.out.tfevents.2.host")
    first, state = read(place, tmp_path / "out1")
    with old.open("ab") as stream:
        stream.write(points(2, 4))
    second, _ = read(place, tmp_path / "out2", state)
    assert RunTable([first, second]).series(0, "loss").step.tolist() == [0, 1, 2, 3, 10, 11]


def test_a_validation_folder_that_appears_renames_the_tags(tmp_path):
    place = tmp_path / "logs"
    write_events(place / "a" / "train", [points(0, 2)])
    first, state = read(place, tmp_path / "out1")
    write_events(place / "a" / "validation", [points(0, 3)])
    second, _ = read(place, tmp_path / "out2", state)
    table = RunTable([first])
    assert table.tags == ("loss",)
    table = RunTable([first, second], table.numbering)
    assert table.tags == ("loss", "train/loss", "validation/loss")
    assert [len(table.series(0, tag).step) for tag in table.tags[1:]] == [2, 3]
    assert [one["runs"] for one in table.index()["tags"]] == [0, 1, 1]


def test_a_file_written_anew_replaces_its_points(tmp_path):
    place = tmp_path / "logs"
    path = write_events(place / "a", [points(0, 50)])
    first, state = read(place, tmp_path / "out1")
    path.write_bytes(first_record() + points(5, 7))
    second, _ = read(place, tmp_path / "out2", state)
    assert RunTable([first, second]).series(0, "loss").step.tolist() == [5, 6]


def test_a_file_that_went_and_came_back_is_counted_once(tmp_path):
    place = tmp_path / "logs"
    path = write_events(place / "a", [points(0, 5)])
    write_events(place / "b", [points(0, 1)])
    first, state = read(place, tmp_path / "out1")
    content = path.read_bytes()
    path.unlink()
    second, state = read(place, tmp_path / "out2", state)
    table = RunTable([first])
    numbers = {run.run: at for at, run in enumerate(table.runs)}
    table = RunTable([first, second], table.numbering)
    assert [run.gone for run in table.runs] == [run.run == "a" for run in table.runs]
    path.write_bytes(content)
    third, _ = read(place, tmp_path / "out3", state)
    table = RunTable([first, second, third], table.numbering)
    assert {run.run: at for at, run in enumerate(table.runs)} == numbers
    assert table.series(numbers["a"], "loss").step.tolist() == [0, 1, 2, 3, 4]
    assert not any(run.gone for run in table.runs)


def test_other_logs_are_read_again_when_they_change(tmp_path):
    place = tmp_path / "logs"
    place.mkdir()
    log, other = place / "one.csv", place / "two.csv"
    log.write_text("epoch,loss\n0,0.9\n1,0.5\n")
    other.write_text("epoch,loss\n0,3\n")
    first, state = read(place, tmp_path / "out1")
    log.write_text("epoch,loss\n0,0.9\n1,0.5\n2,0.4\n")
    found, changed = gather(place, state)
    assert changed
    assert [len(piece.series.step) for piece in found.pieces] == [3], "the other one is as it was"
    second, state = read(place, tmp_path / "out2", state)
    table = RunTable([first, second])
    numbers = {run.run: at for at, run in enumerate(table.runs)}
    assert table.series(numbers["one.csv"], "loss").value.tolist() == [0.9, 0.5, 0.4]
    assert table.series(numbers["two.csv"], "loss").value.tolist() == [3.0]
    assert table.runs[0].unit == "epoch"
    _, changed = gather(place, state)
    assert not changed


def test_media_are_found_by_run_and_tag(tmp_path):
    from stethoscope.models.containers.wire import encode_bytes
    from tests.logs.event_writing import tensor

    place = tmp_path / "logs"
    picture = encode_bytes(8, b"28") + encode_bytes(8, b"28") + encode_bytes(8, b"PNG")
    path = write_events(place / "a", [event(3, tensor("seen", 7, picture, "images")), points(0, 2)])
    segment, _ = read(place, tmp_path / "out")
    table = RunTable([segment])
    assert table.media == (("seen", "image", 0, 1),)
    media = table.media_of(0, "seen")
    assert (media.kind, media.step.tolist(), media.file.tolist()) == ("image", [3], [0])
    begin, size = int(media.start[0]), int(media.size[0])
    assert b"PNG" in path.read_bytes()[begin : begin + size]
    with pytest.raises(KeyError):
        table.media_of(0, "loss")


def test_runs_of_two_trackers_with_one_name_are_told_apart(tmp_path):
    place = tmp_path / "logs"
    write_events(place / "run.csv", [points(0, 2)])
    (place / "other").mkdir()
    (place / "other" / "run.csv").write_text("epoch,loss\n0,1\n")
    (place / "run.json").write_text(json.dumps({"loss": [1.0, 0.5]}))
    segment, _ = read(place, tmp_path / "out")
    names = [run.run for run in RunTable([segment]).runs]
    assert len(set(names)) == len(names) >= 2


def test_what_is_damaged_is_said(tmp_path):
    place = tmp_path / "logs"
    path = write_events(place / "a", [points(0, 100)])
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(bytes(content) + b"\x18\x00\x00")
    segment, _ = read(place, Path(tmp_path / "out"))
    health = RunTable([segment]).index()["runs"][0]["health"]
    assert (health["bad_records"], health["truncated"]) == (1, True)
    assert "1 damaged record" in health["problem"]
    assert len(RunTable([segment]).series(0, "loss").step) == 99
    assert np.isfinite(RunTable([segment]).series(0, "loss").value).all()


def test_a_file_that_vanishes_while_it_is_read_leaves_its_runs_as_they_were(tmp_path, monkeypatch):
    from stethoscope.logs import all_trackers

    place = tmp_path / "logs"
    place.mkdir()
    (place / "one.csv").write_text("epoch,loss\n0,0.9\n1,0.5\n")
    first, state = read(place, tmp_path / "out1")
    (place / "two.csv").write_text("epoch,loss\n0,3\n")

    def vanish(_place):
        raise FileNotFoundError

    monkeypatch.setattr(all_trackers()["keras-csv"], "read", vanish, raising=False)
    second, state = read(place, tmp_path / "out2", state)
    table = RunTable([first, second])
    assert table.series(0, "loss").value.tolist() == [0.9, 0.5]
    assert "vanished" in table.left_out[0]
    monkeypatch.undo()
    third, _ = read(place, tmp_path / "out3", state)
    table = RunTable([first, second, third], table.numbering)
    assert [run.run for run in table.runs] == ["one.csv", "two.csv"]
    assert table.left_out == ()


def test_texts_of_all_runs_together_are_bounded(tmp_path, monkeypatch):
    from stethoscope.logs.runs import facts

    monkeypatch.setattr(facts, "_MAX_ALL_TEXT", 50)
    found = facts.Gathered([RunFacts(f"r{at}", "", "csv", "step", {"note": "x" * 40}) for at in range(3)])
    found.finish()
    assert [len(run.parameters) for run in found.runs] == [1, 0, 0]
    assert "2 runs" in found.left_out[0]
