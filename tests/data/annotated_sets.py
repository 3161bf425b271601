"""The same images and boxes, written in every annotation format: what a reader gives must not depend on the format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

SIZES = {"one": (40, 30), "two": (24, 50)}
"""Width and height."""
BOXES = {"one": [("cat", 4, 6, 12, 8), ("dog", 20, 10, 20, 20)], "two": [("dog", 0, 5, 10, 30)]}
"""Class, left, top, width, height in pixels from the upper left corner."""
CLASSES = ["cat", "dog"]


def png(width: int, height: int, colour: tuple[int, int, int] = (200, 30, 60)) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), colour, np.uint8)).save(out, "PNG")
    return out.getvalue()


def put(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def images(folder: Path) -> None:
    for name, (width, height) in SIZES.items():
        put(folder / f"{name}.png", png(width, height))


def coco(root: Path) -> None:
    images(root / "train")
    value = {
        "info": {"year": 2020},
        "images": [
            {"id": 10 + n, "file_name": f"{name}.png", "width": w, "height": h}
            for n, (name, (w, h)) in enumerate(SIZES.items())
        ],
        "categories": [{"id": 7, "name": "cat"}, {"id": 90, "name": "dog"}],
        "annotations": [
            {
                "id": n,
                "image_id": 10 + list(SIZES).index(name),
                "category_id": 7 if label == "cat" else 90,
                "bbox": box,
                "iscrowd": 0,
                "segmentation": [],
            }
            for n, (name, label, *box) in enumerate((name, *box) for name, boxes in BOXES.items() for box in boxes)
        ],
    }
    put(root / "annotations" / "instances_train.json", json.dumps(value))


def createml(root: Path) -> None:
    images(root)
    value = [
        {
            "image": f"{name}.png",
            "annotations": [
                {"label": label, "coordinates": {"x": x + w / 2, "y": y + h / 2, "width": w, "height": h}}
                for label, x, y, w, h in boxes
            ],
        }
        for name, boxes in BOXES.items()
    ]
    put(root / "_annotations.createml.json", json.dumps(value))


def via(root: Path) -> None:
    images(root)
    value = {
        f"{name}.png123": {
            "filename": f"{name}.png",
            "size": 123,
            "regions": [
                {
                    "shape_attributes": {"name": "rect", "x": x, "y": y, "width": w, "height": h},
                    "region_attributes": {"kind": label},
                }
                for label, x, y, w, h in boxes
            ],
        }
        for name, boxes in BOXES.items()
    }
    put(root / "via_region_data.json", json.dumps(value))


def labelme(root: Path) -> None:
    images(root)
    for name, boxes in BOXES.items():
        shapes = [
            {"label": label, "shape_type": "rectangle", "points": [[x + w, y], [x, y + h]]}
            for label, x, y, w, h in boxes
        ]
        value = {
            "version": "5.0",
            "flags": {},
            "shapes": shapes,
            "imagePath": f"{name}.png",
            "imageData": None,
            "imageWidth": SIZES[name][0],
            "imageHeight": SIZES[name][1],
        }
        put(root / f"{name}.json", json.dumps(value))


def labelme_xml(root: Path) -> None:
    images(root / "Images" / "a")
    for name, boxes in BOXES.items():
        objects = "".join(
            f"<object><name>{label}</name><deleted>0</deleted><type>bounding_box</type><polygon>"
            + "".join(f"<pt><x>{px}</x><y>{py}</y></pt>" for px, py in ((x, y), (x + w, y), (x + w, y + h), (x, y + h)))
            + "</polygon></object>"
            for label, x, y, w, h in boxes
        )
        deleted = "<object><name>gone</name><deleted>1</deleted></object>"
        put(
            root / "Annotations" / "a" / f"{name}.xml",
            f"<annotation><filename>{name}.png</filename>{objects}{deleted}</annotation>",
        )


def voc(root: Path) -> None:
    images(root / "JPEGImages")
    for name, boxes in BOXES.items():
        width, height = SIZES[name]
        objects = "".join(
            f"<object><name>{label}</name><difficult>0</difficult><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin>"
            f"<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
            for label, x, y, w, h in boxes
        )
        size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
        put(
            root / "Annotations" / f"{name}.xml",
            f"<annotation><filename>{name}.png</filename>{size}{objects}</annotation>",
        )
    put(root / "ImageSets" / "Main" / "train.txt", "one\n")
    put(root / "ImageSets" / "Main" / "val.txt", "two\n")


def cvat(root: Path) -> None:
    images(root / "images")
    body = "".join(
        f'<image id="{n}" name="{name}.png" width="{SIZES[name][0]}" height="{SIZES[name][1]}">'
        + "".join(
            f'<box label="{label}" xtl="{x}" ytl="{y}" xbr="{x + w}" ybr="{y + h}"/>' for label, x, y, w, h in boxes
        )
        + "</image>"
        for n, (name, boxes) in enumerate(BOXES.items())
    )
    put(root / "annotations.xml", f'<?xml version="1.0"?><annotations><version>1.1</version>{body}</annotations>')


def yolo_line(label: str, x: float, y: float, w: float, h: float, size: tuple[int, int]) -> str:
    width, height = size
    parts = ((x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
    return " ".join([str(CLASSES.index(label)), *(f"{part:.6f}" for part in parts)])


def yolo(root: Path, pictures: str = "images/train", labels: str = "labels/train") -> None:
    images(root / pictures)
    for name, boxes in BOXES.items():
        put(root / labels / f"{name}.txt", "\n".join(yolo_line(*box, SIZES[name]) for box in boxes))
    put(root / "data.yaml", f"train: images/train\nnc: 2\nnames: {CLASSES}\n")


def kitti(root: Path) -> None:
    images(root / "training" / "image_2")
    for name, boxes in BOXES.items():
        lines = [
            f"{label} 0.00 0 -1.5 {x}.00 {y}.00 {x + w}.00 {y + h}.00 1.5 1.6 3.7 1 2 9 0.1"
            for label, x, y, w, h in boxes
        ]
        put(root / "training" / "label_2" / f"{name}.txt", "\n".join(lines))


def open_images(root: Path) -> None:
    images(root / "images" / "train")
    rows = [
        [
            name,
            "xclick",
            f"/m/{label}",
            1,
            x / SIZES[name][0],
            (x + w) / SIZES[name][0],
            y / SIZES[name][1],
            (y + h) / SIZES[name][1],
            0,
            0,
            0,
            0,
            0,
        ]
        for name, boxes in BOXES.items()
        for label, x, y, w, h in boxes
    ]
    header = (
        "ImageID Source LabelName Confidence XMin XMax YMin YMax IsOccluded IsTruncated IsGroupOf IsDepiction IsInside"
    )
    put(root / "annotations" / "train-annotations-bbox.csv", as_csv([header.split(), *rows]))
    put(root / "annotations" / "class-descriptions.csv", "/m/cat,cat\n/m/dog,dog\n")


def box_table(root: Path) -> None:
    images(root)
    rows = [
        [f"{name}.png", *SIZES[name], label, x, y, x + w, y + h]
        for name, boxes in BOXES.items()
        for label, x, y, w, h in boxes
    ]
    put(
        root / "_annotations.csv",
        as_csv([["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"], *rows]),
    )


def as_csv(rows: list[list[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


FORMATS: dict[str, Callable[[Path], None]] = {
    "coco": coco,
    "createml": createml,
    "via": via,
    "labelme_json": labelme,
    "labelme_xml": labelme_xml,
    "voc": voc,
    "cvat": cvat,
    "yolo": yolo,
    "kitti": kitti,
    "open_images": open_images,
    "box_table": box_table,
}
