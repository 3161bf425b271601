"""Describe a model: its architecture as JSON, and its graph without weights for drawing. Executes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.codec import architecture_to_json
from stethoscope.errors import StethoscopeError
from stethoscope.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import ModelFile


class Describe:
    """params: {"skeleton": bool}. Files: "skeleton-<name for Netron>"."""

    kind = "describe"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns the `describe` shape of the command line."""
        file = context.files["model"]
        context.report("read", message=f"reading {file.name}")
        kind = detect(file)
        architecture = kind.describe(file)
        value = architecture_to_json(architecture, size_bytes(file))
        if context.params.get("skeleton", False):
            context.save_partial(value)
            context.report("draw", message="leaving the weights out")
            try:
                name, content = kind.skeleton(file)
            except StethoscopeError as error:
                value["warnings"].append(f"The graph cannot be drawn: {error}")
                return value
            folder = context.folder / "out"
            folder.mkdir(exist_ok=True)
            (folder / f"skeleton-{name}").write_bytes(content)
        return value


def size_bytes(file: ModelFile) -> int:
    """The size on disk of a file, or of all files in a folder."""
    if file.path.is_dir():
        return sum(path.stat().st_size for path in file.path.rglob("*") if path.is_file())
    return file.path.stat().st_size


TASK = Describe()
