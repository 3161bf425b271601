"""Data of every kind inside every packing, damaged anywhere: read as far as it goes, or refused with a sentence."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stethoscope.data import open_data
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile
from tests.data import annotated_sets
from tests.exploring import examples

_ZIPS = {"stored": 0, "deflated": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}
_TARS = ("w", "w:gz", "w:bz2", "w:xz")


def noise(rows: int) -> bytes:
    """Lines of JSON that hardly compress."""
    draw = random.Random(0)
    return "\n".join(json.dumps({"a": draw.random(), "b": row % 3}) for row in range(rows)).encode()


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of one small set of data of each kind."""
    found = {
        "json": {"train.jsonl": noise(40), "val.jsonl.gz": gzip.compress(noise(20))},
        "text": {"good/a.txt": b"fine", "bad/a.txt": b"awful", "good/b.txt": b"well"},
        "table": {"a.csv": b"a,b,label\n" + b"1,2.5,x\n2,3.5,y\n" * 20},
    }
    for kind, write in annotated_sets.FORMATS.items():
        folder = tmp_path_factory.mktemp(kind)
        write(folder)
        found[kind] = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
    return found


def packed(files: dict[str, bytes], packing: str) -> bytes:
    out = io.BytesIO()
    if packing in _ZIPS:
        with zipfile.ZipFile(out, "w", _ZIPS[packing]) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=out, mode=packing) as tar:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


@examples(15)
@given(
    kind=st.sampled_from(["json", "text", "table", *sorted(annotated_sets.FORMATS)]),
    packing=st.sampled_from([*_ZIPS, *_TARS]),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6),
    left=st.just(1.0) | st.floats(0.1, 1),
)
@example(kind="open_images", packing="lzma", changes=[(0.45, 255), (0.46, 255), (0.5, 255)], left=1.0)
def test_damage_anywhere_is_survived(tmp_path_factory, contents, kind, packing, changes, left):
    data = bytearray(packed(contents[kind], packing))
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    path = tmp_path_factory.mktemp("packed") / "data.bin"
    path.write_bytes(data[: max(1, int(left * len(data)))])
    try:
        with open_data(ModelFile.at(path), 1 << 28) as opened:
            opened.samples(range(4))
            opened.columns(0, 4)
            opened.feed(0, 4)
    except StethoscopeError as error:
        assert str(error)


def test_a_gzip_file_that_is_damaged_after_its_beginning_is_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(noise(3_000)))
    data[15_000:15_100] = b"\xff" * 100
    (tmp_path / "t.jsonl.gz").write_bytes(data)
    with pytest.raises(UnreadableFile, match=r"t\.jsonl\.gz.* damaged"):
        open_data(ModelFile.at(tmp_path / "t.jsonl.gz"), 1 << 28)
