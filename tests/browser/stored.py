"""What lies in the store of the running app, and how it gets there without an upload."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stethoscope.jobs.store import SAMPLES_OWNER, Store
from stethoscope.settings import Settings
from tests.live import LiveServer


@contextmanager
def opened_store(server: LiveServer) -> Iterator[Store]:
    """The running app's store."""
    store = Store(server.workspace / "store", Settings(min_free_disk_bytes=0))
    try:
        yield store
    finally:
        store.close()


def put(server: LiveServer, path: Path) -> str:
    """The quick way in, for journeys that are not about uploading; returns the entry's id."""
    with opened_store(server) as store:
        return store.add_file(path, path.name, "somebody").id


def path_of(server: LiveServer, entry_id: str) -> Path:
    """Where an upload lies."""
    with opened_store(server) as store:
        return store.get(entry_id).path


def everything(server: LiveServer) -> list[Path]:
    """Uploaded files and unfinished uploads, samples left out."""
    with opened_store(server) as store:
        samples = {entry.path for entry in store.list(SAMPLES_OWNER)}
    places = (server.workspace / "store" / part for part in ("files", "uploads"))
    return sorted(path for place in places for path in place.rglob("*") if path.is_file() and path not in samples)


def partial_files(server: LiveServer) -> list[Path]:
    """Unfinished uploads."""
    return list((server.workspace / "store" / "uploads").iterdir())
