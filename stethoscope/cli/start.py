"""Entry point of the `stethoscope` command: the worker that reads the model starts while the command is imported."""

from __future__ import annotations

import sys
from pathlib import PurePath

_COMMANDS = {"describe", "predict", "consistency", "check", "plan"}
_READERS = {".keras": ["h5py"], ".h5": ["h5py"], ".hdf5": ["h5py"], ".onnx": ["onnx"]}
"""What the worker will most likely import; a wrong suffix only costs the time of importing it later."""


def main() -> None:
    """Runs the command line."""
    if len(sys.argv) > 2 and sys.argv[1] in _COMMANDS and "--help" not in sys.argv:
        from stethoscope.jobs.workers import WorkerServer

        suffixes = (PurePath(word).suffix.lower() for word in sys.argv[2:])
        preload = next((_READERS[suffix] for suffix in suffixes if suffix in _READERS), [])
        WorkerServer.start_early("light", preload)
    if sys.argv[1:2] == ["explain"]:
        from stethoscope.cli.explain import main as explain  # without what every other command imports

        explain(sys.argv[2:])
        return
    from stethoscope.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
