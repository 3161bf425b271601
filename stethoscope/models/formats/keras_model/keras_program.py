"""Python that runs a Keras file."""

from __future__ import annotations

from stethoscope.models.model_format import Program
from stethoscope.types import Architecture


def program(name: str, architecture: Architecture) -> Program:
    """See `Format.program`."""
    old = architecture.framework_version.startswith(("Keras 1", "Keras 2"))
    module = "tf_keras" if old else "keras"
    single = len(architecture.inputs) == 1
    feed = "next(iter(batch.values()))" if single else "list(batch.values())"
    return Program(
        (f"import {module}",),
        (f"model = {module}.models.load_model({name!r})",),
        (f"results.append(model({feed}, training=False))",),
    )
