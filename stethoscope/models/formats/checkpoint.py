"""TensorFlow checkpoints: `.index` and `.data-…` as `Saver` and `tf.train.Checkpoint` write them, in a folder, an archive, or by name.

The single file of TensorFlow before 0.12 is the same kind of table, with the values in it: `old_checkpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import archive as archives
from stethoscope.models.containers import damage
from stethoscope.models.containers.sorted_table import MAGIC, Damaged
from stethoscope.models.formats.tf_graph import checkpoint_index, old_checkpoint, saved_model_files
from stethoscope.models.formats.tf_graph.checkpoint_names import natural, variables
from stethoscope.models.formats.tf_graph.saved_model_files import GRAPHS, Located
from stethoscope.models.model_format import on_disk
from stethoscope.models.weights_only import SAVE_WHOLE, Holding, WeightsOnly
from stethoscope.types import ModelFile

_DATA = re.compile(r"(.+)\.data-\d{5}-of-\d{5}")
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_STATE = "checkpoint"
"""The file in which TensorFlow notes which checkpoint of a folder is the last."""


@dataclass(frozen=True)
class _Found:
    """One checkpoint, and the others beside it."""

    located: Located
    prefix: str
    others: tuple[str, ...]


class Checkpoint(WeightsOnly):
    """See the module's docstring."""

    id = "checkpoint"
    title = "TensorFlow checkpoint (.index and .data, folder or zip)"
    extensions = (".index", ".ckpt")
    hint = "a TensorFlow checkpoint"

    def sniff(self, file: ModelFile) -> bool:
        """A folder or archive with an index and its data and no SavedModel or event files in it; or an index alone."""
        if file.path.is_dir():
            return _holds_one([path.relative_to(file.path).as_posix() for path in saved_model_files.walk(file.path)])
        if archives.is_archive(file.path):
            try:
                names = list(damage.listed(file.path))
            except damage.ARCHIVE:
                return False
            return _holds_one(names) and not any("tfevents" in name for name in names)
        if not file.path.is_file() or file.path.stat().st_size < len(MAGIC):
            return False
        with file.path.open("rb") as stream:
            stream.seek(-len(MAGIC), 2)
            return stream.read() == MAGIC

    def size_bytes(self, file: ModelFile) -> int:
        """With the data files beside an index given alone."""
        if not file.path.name.endswith(".index") or not file.path.is_file():
            return on_disk(file)
        with file.path.open("rb") as stream:
            shards = checkpoint_index.read(stream.read(damage.MAX_CONFIG_BYTES)).shards
        return on_disk(file) + sum(
            size for _, size in _beside(file.path, file.path.name.removesuffix(".index"), shards)
        )

    def held(self, file: ModelFile) -> AbstractContextManager[Holding]:
        """See `WeightsOnly.held`."""
        return _held(file)


def _holds_one(names: Sequence[str]) -> bool:
    return bool(_prefixes(names)) and not any(PurePosixPath(name).name in GRAPHS for name in names)


def _prefixes(names: Sequence[str]) -> list[str]:
    """Of an index and data files, in natural order: ckpt-9 before ckpt-10."""
    with_data = {match.group(1) for match in map(_DATA.fullmatch, names) if match}
    found = [name.removesuffix(".index") for name in names if name.endswith(".index")]
    return sorted((name for name in found if name in with_data), key=natural)


@contextmanager
def _held(file: ModelFile) -> Iterator[Holding]:
    found = _find(file)
    with ExitStack() as stack:
        if found is None:
            yield old_checkpoint.held(file, stack)
            return
        try:
            yield _holding(file, found, stack)
        except Damaged as error:
            raise UnreadableFile(
                f"{file.name}: expected the index of a TensorFlow checkpoint, got damaged bytes ({error}). Copy it again."
            ) from error


def _find(file: ModelFile) -> _Found | None:
    """The checkpoint to show: the one the folder names as its last, else the last by number; None for an old single file."""
    if file.path.is_file() and not archives.is_archive(file.path):
        if old_checkpoint.is_one(file):
            return None
        own, sizes = file.path.name.removesuffix(".index"), {file.path.name: file.path.stat().st_size}
        return _Found(Located(ModelFile(file.path.parent, file.name), "folder", "", file.path.name, sizes), own, ())
    kind, sizes = saved_model_files.contents(file)
    prefixes = _prefixes(list(sizes))
    if not prefixes:
        raise UnreadableFile(f"{file.name}: expected a checkpoint's .index and .data files, got none. Give both.")
    located = Located(file, kind, "", f"{prefixes[-1]}.index", sizes)
    last = _noted(located, prefixes) or prefixes[-1]
    others = tuple(prefix for prefix in prefixes if prefix != last)
    return _Found(Located(file, kind, "", f"{last}.index", sizes), last, others)


def _noted(located: Located, prefixes: Sequence[str]) -> str | None:
    """What the nearest `checkpoint` file says is the last."""
    states = [name for name in located.sizes if PurePosixPath(name).name == _STATE and located.sizes[name] < 1 << 20]
    for name in sorted(states, key=len):
        if not located.sizes[name]:
            continue
        with located.view(name) as view:
            text = bytes(view).decode("utf-8", "replace")
        said = re.search(r'^model_checkpoint_path:\s*"([^"\n]+)"', text, re.MULTILINE)
        if said:
            wanted = PurePosixPath(said.group(1)).name
            folder = PurePosixPath(name).parent
            match = next((one for one in prefixes if PurePosixPath(one) == folder / wanted), None)
            if match:
                return match
    return None


def _holding(file: ModelFile, found: _Found, stack: ExitStack) -> Holding:
    from stethoscope.models.weights.checkpoint_values import OBJECT_GRAPH, Shards, named

    index = found.located.graph
    if found.located.sizes[index] > damage.MAX_CONFIG_BYTES:
        raise Damaged(f"it takes {found.located.sizes[index]:,} bytes")
    with found.located.view(index) as view:
        bundle = checkpoint_index.read(bytes(view))
    if file.path.is_file() and found.located.kind == "folder":
        found.located.sizes.update(_beside(file.path, found.prefix, bundle.shards))
    shards = Shards(found.located, bundle, found.prefix, stack)
    called = {key: own for key, (_, own) in named(shards).items()}
    weights = {
        key.removesuffix(_VALUE): (called.get(key, ""), shards.weight(key, place))
        for key, place in bundle.places.items()
        if key != OBJECT_GRAPH and place.dtype not in ("string", "variant", "resource")
    }
    notes = []
    if not any(name.startswith(f"{found.prefix}.data-") for name in found.located.sizes):
        notes.append(
            "Its .data files are not here: names and shapes are known, values are not. Give the folder of both."
        )
    if found.others:
        shown = ", ".join(found.others[-5:]) + (" …" if len(found.others) > 5 else "")
        notes.append(f"{found.prefix} is shown. Beside it lie: {shown}.")
    graph = f"{found.prefix}.meta"
    whole = f"{SAVE_WHOLE}, after tf.train.Checkpoint(model=model).restore({PurePosixPath(found.prefix).name!r})."
    if graph in found.located.sizes:
        whole = (
            f"Its graph is beside it: tf.compat.v1.train.import_meta_graph({PurePosixPath(graph).name!r}), restore, "
            "and export a SavedModel."
        )
    title = "TensorFlow 2 checkpoint" if OBJECT_GRAPH in bundle.places else "TensorFlow 1 checkpoint"
    return Holding(variables(weights), title, "TensorFlow", notes, whole)


def _beside(index: Path, prefix: str, shards: int) -> Iterator[tuple[str, int]]:
    """The data files that lie beside an index given alone, where they were given too; the folder itself is not read."""
    for number in range(min(shards, _MOST_SHARDS)):
        path = index.with_name(f"{prefix}.data-{number:05d}-of-{shards:05d}")
        if path.is_file():
            yield path.name, path.stat().st_size


_MOST_SHARDS = 10_000

FORMAT = Checkpoint()
