"""`stethoscope versions`: which version of the data this is, a DVC repository's or a plain fingerprint, and what changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope import cli_run
from stethoscope.cli_answers import exit_for, failing_well, summary
from stethoscope.cli_options import JsonOption, MemoryOption, TimeoutOption
from stethoscope.errors import UnreadableFile
from stethoscope.types import Job, ModelFile, Status

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
        value = {**summary(result), **result.value}
        if as_json:
            sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
        elif result.status is Status.OK:
            sys.stdout.write("\n".join(lines(result.value)) + "\n")
        exit_for(result)
        if fail_on_change and result.value.get("changes"):
            raise typer.Exit(CHANGED)


def lines(value: Mapping[str, Any]) -> list[str]:
    """The answer for people, a line for each thing worth knowing."""
    said = []
    for one in value.get("fingerprints") or ():
        said.append(f"{one['sha256']}  {_plain(one['name'])}")
        if len(one["parts"]) > 1:
            said += [f"  {part['sha256'][:16]}  {_plain(part['name'])} {tuple(part['shape'])}" for part in one["parts"]]
    for state in value.get("states") or ():
        said.append(f"{state['version'] or 'no data '}  {_plain(state['name'])}")
        said += [f"  data {_plain(one['path'])}  {one['hash'][:16] or 'no hash'}" for one in state["data"]]
        for stage in state["stages"]:
            note = stage["outdated"] or ("up to date" if stage["ran"] else "never ran")
            said.append(f"  stage {_plain(stage['name'])}: {_plain(note)}")
        said += [f"  {_plain(name)} = {_plain(number)}" for name, number in state["metrics"].items()]
        said += [f"  ! {_plain(text)}" for text in state["problems"]]
    changes = [one if isinstance(one, str) else one["text"] for one in value.get("changes") or ()]
    if len([*(value.get("states") or ()), *(value.get("fingerprints") or ())]) > 1:
        said += ["", *(_plain(text) for text in changes)] if changes else ["", "Nothing changed."]
    return said


def _plain(text: object) -> str:
    """Names out of files without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in str(text))[:500]


def _file(place: Path) -> ModelFile:
    if not place.exists():
        raise UnreadableFile(f"{place}: expected a file or a folder, got nothing there. Check the path.")
    return ModelFile.at(place.resolve())
