"""Media of a log as the page asks for them."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from stethoscope.codec import decode, plain
from stethoscope.errors import BadInput
from stethoscope.logs.tensorboard import EventFolder
from stethoscope.task import TaskContext
from stethoscope.tasks.read_media import TASK, DecodedMedia
from stethoscope.types import Budget, ModelFile
from tests.logs.event_writing import encode_bytes, event, graph_def, graph_event, tensor, write_events
from tests.logs.test_media_values import dims, doubles, png


def read(tmp_path, file, params):
    folder = tmp_path / "job"
    folder.mkdir()
    context = TaskContext(
        files={"logs": file},
        params=params,
        folder=folder,
        budget=Budget(1 << 30, 10),
        report=lambda *_, **__: None,
        memory=None,
        open_model=None,
    )
    value = decode(DecodedMedia, json.loads(json.dumps(plain(TASK.run(context)), allow_nan=False)))
    out = folder / "out"
    return value, {path.name: np.load(path) for path in out.iterdir()} if out.is_dir() else {}


def histogram(step):
    return event(step, tensor("w", 2, encode_bytes(4, doubles([step, step + 1, 7])), "histograms", dims(1, 3)))


def image(step):
    texts = b"".join(encode_bytes(8, one) for one in (b"4", b"4", png(4, 4), png(4, 4)))
    return event(step, tensor("i", 7, texts, "images", dims(4)))


def asked(place, tag, kind, run="r"):
    (log,) = [one for one in EventFolder(place).poll() if one.run.endswith(run)]
    media = log.media[tag]
    columns = (media.file, media.start, media.size, media.step, media.wall_time)
    points = [list(row) for row in zip(*(one.tolist() for one in columns), strict=True)]
    return {"kind": kind, "tag": tag, "runs": [{"run": log.run, "files": list(log.files), "points": points}]}


@pytest.fixture
def logs(tmp_path):
    place = tmp_path / "logs"
    write_events(place / "r", [record(step) for step in range(3) for record in (histogram, image)])
    return place


def test_a_graph_comes_as_the_bytes_of_its_file(tmp_path):
    graph = graph_def(("x", "Placeholder", ""), ("y", "Relu", "x"))
    write_events(tmp_path / "logs" / "r", [graph_event(graph)])
    logs = tmp_path / "logs"
    value, files = read(tmp_path, ModelFile.at(logs), asked(logs, "graph", "graph"))
    ((point,),) = [run.points for run in value.runs]
    assert point.graph == (0, len(graph))
    assert files["graphs.npy"].tobytes() == graph


def test_histograms_come_as_rows_of_one_array(tmp_path, logs):
    value, files = read(tmp_path, ModelFile.at(logs), asked(logs, "w", "histogram"))
    (run,) = value.runs
    assert [(point.step, point.at, point.count) for point in run.points] == [(0, 0, 1), (1, 1, 1), (2, 2, 1)]
    assert files["buckets.npy"].tolist() == [[0, 1, 7], [1, 2, 7], [2, 3, 7]]
    assert (value.damaged, value.left_out) == (0, 0)


def test_images_come_as_png_files_one_after_another(tmp_path, logs):
    value, files = read(tmp_path, ModelFile.at(logs), asked(logs, "i", "image"))
    point = value.runs[0].points[2]
    assert (point.of, [place[2:] for place in point.images]) == (2, [(4, 4), (4, 4)])
    start, size = point.images[1][:2]
    assert files["images.npy"][start : start + size].tobytes().startswith(b"\x89PNG")


def test_an_uploaded_archive_is_read_too(tmp_path, logs):
    packed = tmp_path / "upload"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in logs.rglob("*tfevents*"):
            archive.write(path, path.relative_to(logs.parent).as_posix())
    value, _ = read(tmp_path, ModelFile(packed, "logs.zip"), asked(logs, "w", "histogram"))
    assert len(value.runs[0].points) == 3


def test_records_that_changed_or_vanished_since_are_left_out_and_counted(tmp_path, logs):
    params = asked(logs, "w", "histogram")
    (path,) = logs.rglob("*tfevents*")
    content = bytearray(path.read_bytes())
    _, start, size, *_ = params["runs"][0]["points"][1]
    content[start + size // 2] ^= 1
    path.write_bytes(content)
    params["runs"].append({"run": "gone", "files": ["r/no.tfevents"], "points": [[0, 0, 20, 0, None]]})
    value, _ = read(tmp_path, ModelFile.at(logs), params)
    assert [[point.step for point in run.points] for run in value.runs] == [[0, 2], []]
    assert value.damaged == 2


@pytest.mark.parametrize("name", ["../outside", "link"])
def test_no_file_outside_of_the_log_is_read(tmp_path, logs, name):
    params = asked(logs, "w", "histogram")
    (path,) = logs.rglob("*tfevents*")
    (tmp_path / "outside").write_bytes(path.read_bytes())
    (logs / "link").symlink_to(tmp_path / "outside")
    params["runs"][0]["files"] = [name]
    value, files = read(tmp_path, ModelFile.at(logs), params)
    assert (value.damaged, files) == (3, {})


def test_what_is_no_list_of_points_is_refused(tmp_path, logs):
    params = asked(logs, "w", "histogram")
    params["runs"][0]["points"][0][0] = 9
    with pytest.raises(BadInput, match="expected points"):
        read(tmp_path, ModelFile.at(logs), params)


def test_images_that_are_none_are_counted(tmp_path):
    broken = event(1, tensor("i", 7, b"".join(encode_bytes(8, one) for one in (b"4", b"4", b"no")), "images", dims(3)))
    write_events(tmp_path / "logs" / "r", [broken])
    value, _ = read(tmp_path, ModelFile.at(tmp_path / "logs"), asked(tmp_path / "logs", "i", "image"))
    assert (value.damaged, value.runs[0].points) == (1, ())
