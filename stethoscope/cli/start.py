"""Entry point of the `stethoscope` command: the workers that read and run the model start while the command is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

_RUNS = {
    "predict",
    "activations",
    "sweep",
    "endurance",
    "convert",
    "compare",
    "latency",
    "consistency",
    "check",
    "plan",
}
"""Commands that run the model after it was described."""
_READERS = {".keras": ["h5py"], ".h5": ["h5py"], ".hdf5": ["h5py"], ".onnx": ["onnx"]}
"""What the worker will most likely import; a wrong suffix only costs the time of importing it later."""
_OF_TENSORFLOW = {".keras", ".h5", ".hdf5", ".pb"}


_JSON = "--json"


def main() -> None:
    """Runs the command line."""
    if len(sys.argv) > 2 and not {"--help", "-h"} & set(sys.argv):
        _start_workers(sys.argv[1], [Path(word) for word in sys.argv[2:]])
    if sys.argv[1:2] == ["describe"] and _are_plain(sys.argv[2:]):
        from stethoscope.cli.describing import ended

        sys.exit(ended([word for word in sys.argv[2:] if word != _JSON], None, _JSON in sys.argv))
    from stethoscope.cli.app import main as run

    run()


def _are_plain(words: Sequence[str]) -> bool:
    """Whether nothing has to be parsed: files, and `--json`. What parses takes as long as describing."""
    return any(word != _JSON for word in words) and all(
        word in (_JSON, "-") or word[:1] not in ("-", "") for word in words
    )


def _start_workers(command: str, words: Sequence[Path]) -> None:
    if command != "describe" and command not in _RUNS:
        return
    from stethoscope.jobs.workers import WorkerServer

    preload = next((_READERS[word.suffix.lower()] for word in words if word.suffix.lower() in _READERS), [])
    WorkerServer.start_early("light", preload, ("describe",) if command in ("describe", "convert") else ())
    if command in _RUNS and any(_needs_tensorflow(word) for word in words):
        WorkerServer.start_early("tensorflow", (), ("convert",) if command == "convert" else ())


def _needs_tensorflow(word: Path) -> bool:
    if word.suffix.lower() in _OF_TENSORFLOW:
        return word.is_file()
    return (word / "saved_model.pb").is_file()


if __name__ == "__main__":
    main()
