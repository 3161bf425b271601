"""Models whose files come out the same each time, whichever tests ran before: equal jobs are then known as equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample_models.canonical import save_keras


def begin(seed: int = 1) -> None:
    """Keras names layers from the first number again and draws weights from `seed`; call it before a model is built."""
    import keras

    keras.utils.clear_session(free_memory=False)
    keras.utils.set_random_seed(seed)


def save(model: Any, path: Path) -> Path:
    """Saves a `.keras` file without dates and addresses."""
    return save_keras(model, path)
