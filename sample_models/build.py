"""Builds the sample models: `python -m sample_models.build [--all] [--texts] [--folder F] [names…]`.

Without names: every small one. `--all` adds the big ones, which go to `built/big` with a manifest of their own.
`--texts` builds nothing: it brings manifest and README up to date with what the recipes say.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

from sample_models import BUILT, recipes
from sample_models.catalogue import write_readme
from sample_models.recipe import SEED, Recipe
from stethoscope.discover import discover
from stethoscope.models.formats import detect
from stethoscope.types import ModelFile

BIG = "big"
MANIFEST = "manifest.json"


def all_recipes() -> dict[str, Recipe]:
    """Every recipe by its id, in the order to show and to build them."""
    found: dict[str, Recipe] = discover(recipes, "RECIPE", "id")
    return dict(sorted(found.items(), key=lambda item: (item[1].big, item[1].order, item[0])))


def build_here(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Builds one sample in this process and returns its manifest entry. `folder` must exist."""
    import keras

    keras.utils.clear_session()
    keras.utils.set_random_seed(SEED)
    file = recipe.build(folder)
    return entry(recipe, file, recipe.measure(file) if recipe.measure else {})


def entry(recipe: Recipe, file: Path, measured: Any) -> dict[str, Any]:
    """A recipe's line in the manifest.

    Raises:
        UnreadableFile: no format recognises the file.
    """
    return {
        "id": recipe.id,
        "file": file.name,
        "title": recipe.title,
        "behaviour": recipe.behaviour,
        "description": recipe.description,
        "format_id": detect(ModelFile.at(file)).id,
        "parameters": recipe.parameters,
        "size_bytes": file.stat().st_size,
        "big": recipe.big,
        "data": recipe.data,
        "fit": dict(recipe.fit),
        "findings": list(recipe.findings),
        "expectations": dict(recipe.expectations),
        "measured": dict(measured),
    }


def build_samples(names: list[str], folder: Path = BUILT) -> list[dict[str, Any]]:
    """Builds each named sample in a process of its own; returns their manifest entries and records them.

    Each process is forked after TensorFlow was imported and before it ran anything, so that no sample depends on
    which others were built before it.

    Raises:
        RuntimeError: a recipe failed; its traceback is on stderr.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # The same bytes on a machine with a GPU as on one without.
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import keras  # noqa: F401

    known, entries = all_recipes(), []
    for name in names:
        target = folder / BIG if known[name].big else folder
        target.mkdir(parents=True, exist_ok=True)
        made = _in_own_process(known[name], target)
        _record(target, {made["id"]: made})
        entries.append(made)
    return entries


def refresh_texts(folder: Path = BUILT) -> None:
    """Rewrites the manifest's entries from the recipes, keeping files and what was measured when they were built."""
    known, old = all_recipes(), json.loads((folder / MANIFEST).read_text())
    _record(
        folder, {e["id"]: entry(known[e["id"]], folder / e["file"], e["measured"]) for e in old if e["id"] in known}
    )


def refresh_readme() -> None:
    """Writes the table for users, from the recipes and the manifest of the samples that are committed."""
    rows = json.loads((BUILT / MANIFEST).read_text())
    write_readme(list(all_recipes().values()), rows, BUILT.parent / "README.md")


def _in_own_process(recipe: Recipe, folder: Path) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(recipe, folder, sender))
    process.start()
    sender.close()
    try:
        made: dict[str, Any] = receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(
            f"Recipe {recipe.id}: expected a finished file, got exit code {process.exitcode}. Read the traceback above."
        ) from None
    process.join()
    return made


def _child(recipe: Recipe, folder: Path, sender: Any) -> None:
    import tensorflow as tf

    # One thread adds floating-point numbers in one order.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    sender.send(build_here(recipe, folder))


def _record(folder: Path, entries: dict[str, dict[str, Any]]) -> None:
    manifest, order = folder / MANIFEST, list(all_recipes())
    old = {e["id"]: e for e in json.loads(manifest.read_text())} if manifest.exists() else {}
    merged = {**old, **entries}
    kept = [merged[name] for name in order if name in merged]
    kept += [row for row in merged.values() if row.get("kind") == "data"]
    manifest.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    known = all_recipes()
    parser = argparse.ArgumentParser(prog="python -m sample_models.build", description="Builds the sample models.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of: {', '.join(known)}")
    parser.add_argument("--all", action="store_true", help="the big ones too")
    parser.add_argument(
        "--texts", action="store_true", help="build nothing; update manifest and README from the recipes"
    )
    parser.add_argument("--folder", type=Path, default=BUILT, help="where to build (default: %(default)s)")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"no sample is called {', '.join(unknown)}. Choose from {', '.join(known)}.")
    if options.texts:
        refresh_texts(options.folder)
    else:
        names = options.names or [name for name, recipe in known.items() if options.all or not recipe.big]
        for made in build_samples(names, options.folder):
            sys.stdout.write(f"{made['id']}: {made['file']}, {made['size_bytes']:,} bytes {made['measured'] or ''}\n")
    if options.folder == BUILT:
        refresh_readme()
    return 0


if __name__ == "__main__":
    sys.exit(main())
