"""`stethoscope versions`: which version of the data this is, a DVC repository's or a plain fingerprint, and what changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    JsonOption,
    MemoryOption,
    TimeoutOption,
    exit_for,
    failing_well,
    known,
    print_json,
    summary,
)
from stethoscope.codec import answer_of
from stethoscope.errors import UnreadableFile
from stethoscope.types import Job, ModelFile, Status

if TYPE_CHECKING:
    from stethoscope.tasks.read_versions import DataVersions

CHANGED = 1
"""Exit code with `--fail-on-change` when something changed."""


def versions(
    place: Annotated[
        Path,
        typer.Argument(
            help="Data (.npy, .npz, .csv, .tsv by their values, other files by their bytes, or a folder of them), or a DVC "
            "repository, dvc.yaml, dvc.lock or .dvc file.",
            metavar="DATA",
        ),
    ],
    before: Annotated[Path | None, typer.Option(help="An older state of the same, to say what changed.")] = None,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 when anything changed since --before.")
    ] = False,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    as_json: JsonOption = False,
) -> None:
    """Say which version of the data this is, and what changed since another."""
    with failing_well():
        files = {"after": _file(place)} | ({"before": _file(before)} if before else {})
        with cli_run.short_engine() as engine:
            result = cli_run.run_job(engine, Job("read_versions", files, {}, cli_run.budget(memory_limit, timeout)))
        from stethoscope.tasks.read_versions import DataVersions

        if as_json:
            value = summary(result) | known(result, DataVersions)
            for change in value.get("changes", ()):
                if isinstance(change, dict):
                    change["from"] = change["to"] - 1
            print_json(value)
        elif result.status is Status.OK:
            sys.stdout.write("\n".join(lines(answer_of(result, DataVersions))) + "\n")
        exit_for(result)
        if fail_on_change and answer_of(result, DataVersions).changes:
            raise typer.Exit(CHANGED)


def lines(found: DataVersions) -> Iterator[str]:
    """The answer for people, a line for each thing worth knowing."""
    for data in found.fingerprints:
        yield f"{data.sha256}  {_plain(data.name)}"
        if len(data.parts) > 1:
            yield from (f"  {part.sha256[:16]}  {_plain(part.name)} {part.shape}" for part in data.parts)
    for state in found.states:
        yield f"{state.version or 'no data '}  {_plain(state.name)}"
        yield from (f"  data {_plain(data.path)}  {data.hash[:16] or 'no hash'}" for data in state.data)
        for stage in state.stages:
            note = stage.outdated or ("up to date" if stage.ran else "never ran")
            yield f"  stage {_plain(stage.name)}: {_plain(note)}"
        yield from (f"  {_plain(name)} = {_plain(number)}" for name, number in state.metrics.items())
        yield from (f"  ! {_plain(text)}" for text in state.problems)
    if len(found.states) + len(found.fingerprints) > 1:
        texts = [change if isinstance(change, str) else change.text for change in found.changes]
        yield from ("", *(_plain(text) for text in texts or ["Nothing changed."]))


def _plain(text: object) -> str:
    """Names out of files without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in str(text))[:500]


def _file(place: Path) -> ModelFile:
    if not place.exists():
        raise UnreadableFile(f"{place}: expected a file or a folder, got nothing there. Check the path.")
    return ModelFile.at(place.resolve())
