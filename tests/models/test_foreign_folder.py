"""A folder without a model says what it is, and which command reads it."""

from __future__ import annotations

from pathlib import Path

from stethoscope.models.foreign_folder import in_folder
from tests.tables import each

FOLDERS = {
    "mlflow": ({"meta.yaml": "", "metrics/loss": "1 2 0\n", "params/lr": "0.1"}, "MLflow", "stethoscope curves"),
    "mlflow-many": (
        {"0/meta.yaml": "", "0/abc/metrics/loss": "1 2 0\n", "0/abc/meta.yaml": ""},
        "MLflow",
        "stethoscope curves",
    ),
    "tensorboard": ({"train/events.out.tfevents.1.host": ""}, "TensorBoard", "stethoscope curves"),
    "dvc": ({"dvc.yaml": "stages: {}", "train.py": ""}, "DVC", "stethoscope versions"),
    "dvc-pointer": ({"model.keras.dvc": "outs: []"}, "DVC", "dvc pull"),
    "coco": ({"images/a.jpg": "", "labels.json": '{"images": [], "annotations": []}'}, "COCO", "--data"),
    "voc": (
        {"a.jpg": "", "a.xml": "<annotation><filename>a.jpg</filename><object></object></annotation>"},
        "VOC",
        "--data",
    ),
    "labelme": ({"a.xml": "<annotation><object><polygon></polygon></object></annotation>"}, "LabelMe", "--data"),
    "yolo": ({"a.txt": "0 0.5 0.5 0.1 0.2\n1 0.1 0.2 0.3 0.4\n"}, "YOLO", "--data"),
    "kitti": (
        {"a.txt": "Car 0.00 0 -1.58 587.0 173.3 614.1 200.1 1.6 1.7 3.6 -0.6 1.7 46.7 -1.5\n"},
        "KITTI",
        "--data",
    ),
    "images": ({"a/1.png": "", "b/2.png": ""}, "2 images", "--data"),
    "rows": ({"train.csv": "a,b\n1,2\n"}, "train.csv", "stethoscope data"),
    "scripts": ({"train.py": "import keras"}, "train.py", "stethoscope check"),
    "half-a-checkpoint": ({"model.ckpt.data-00000-of-00001": "x"}, "checkpoint", ".index"),
    "names-only": ({"model.ckpt.index": "x"}, "checkpoint", ".data"),
    "graph-only": ({"model.ckpt.meta": "x"}, "MetaGraph", "SavedModel"),
    "unpacked": ({"config.json": "{}", "metadata.json": "{}", "model.weights.h5": ""}, ".keras", "Zip"),
    "tfjs": ({"model.json": "{}", "group1.bin": ""}, "TensorFlow.js", "SavedModel"),
    "pytorch": ({"config.json": "{}", "pytorch_model.bin": ""}, "PyTorch", "ONNX"),
    "anything": ({"notes.md": ""}, "notes.md", "saved_model.pb"),
    "nothing": ({}, "empty", "model"),
}


@each("name", list(FOLDERS))
def test_it_is_named_with_what_reads_it(name: str, tmp_path: Path) -> None:
    files, what, how = FOLDERS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    said = in_folder(tmp_path)
    assert what in said and how in said and said.endswith(".")


def test_a_meta_file_of_another_kind_is_no_graph(tmp_path: Path) -> None:
    (tmp_path / "photo.meta").write_text("camera: x")
    assert "MetaGraph" not in in_folder(tmp_path)
