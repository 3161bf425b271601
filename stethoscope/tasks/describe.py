"""Describe a model: its architecture as JSON, and its graph without weights for drawing. Executes nothing."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.architecture.description import Description
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import ModelFile


class Describe:
    """params: {"skeleton": bool}. Files: "skeleton-<name for Netron>"."""

    kind = "describe"
    answer = Description

    def run(self, context: TaskContext) -> Description:
        """Reads the file; a graph that cannot be drawn is a warning."""
        file = context.files["model"]
        context.report("read", message=f"reading {file.name}")
        kind = detect(file)
        description = Description.of(kind.describe(file), size_bytes(file))
        if not context.params.get("skeleton", False):
            return description
        context.save_partial(description)
        context.report("draw", message="leaving the weights out")
        try:
            name, content = kind.skeleton(file)
        except StethoscopeError as error:
            return replace(description, warnings=(*description.warnings, f"The graph cannot be drawn: {error}"))
        folder = context.folder / "out"
        folder.mkdir(exist_ok=True)
        (folder / f"skeleton-{name}").write_bytes(content)
        return description


def size_bytes(file: ModelFile) -> int:
    """The size on disk of a file, or of all files in a folder."""
    if file.path.is_dir():
        return sum(path.stat().st_size for path in file.path.rglob("*") if path.is_file())
    return file.path.stat().st_size


TASK = Describe()
