from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stethoscope.jobs.store import Store
from stethoscope.settings import Settings


@pytest.fixture
def make_store(tmp_path: Path):
    """Makes stores in one folder; settings by keyword."""
    opened = []

    def make(**options: object) -> Store:
        options = {"min_free_disk_bytes": 0, **options}
        opened.append(Store(tmp_path / "store", Settings(workspace=tmp_path, **options)))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., object]:
    def add(store: Store, content: bytes, name: str = "model.keras", owner: str = "ada"):
        with store.upload(owner) as upload:
            upload.write(content)
            return upload.commit(name)

    return add


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("store.sqlite")]
