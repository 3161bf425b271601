"""Tiny on disk, huge at run time."""

from __future__ import annotations

from pathlib import Path

from sample_models.canonical import save_keras
from sample_models.recipe import Recipe


def _build(folder: Path) -> Path:
    import keras
    from keras import layers

    model = keras.Sequential(
        [
            layers.Input((64, 64, 3), name="image"),
            layers.Conv2D(8, 3, padding="same", activation="relu", name="features"),
            layers.UpSampling2D(4, name="enlarge_to_256"),
            layers.Conv2D(8, 3, padding="same", activation="relu", name="refine_256"),
            layers.UpSampling2D(4, name="enlarge_to_1024"),
            layers.Conv2D(8, 3, padding="same", activation="relu", name="refine_1024"),
            layers.Conv2D(3, 3, padding="same", name="colours"),
            layers.GlobalAveragePooling2D(name="mean_colour"),
        ],
        name="memory_hungry",
    )
    return save_keras(model, folder / "memory_hungry.keras")


RECIPE = Recipe(
    id="memory_hungry",
    title="Needs more memory than it looks",
    behaviour="A few kilobytes on disk, gigabytes while it runs: at batch 32 it exceeds a limit of 512 MB, at batch 1 it fits.",
    description="Enlarges an image sixteenfold in each direction before averaging it. Its 2 thousand parameters are nothing; its "
    "activations are everything. Run it with a memory limit of 512 MB and batch sizes 1 and 32.",
    parameters=1_611,
    build=_build,
    order=4,
    expectations={
        "consistent": True,
        "out_of_memory_at": {"memory_limit_bytes": 512 << 20, "batch_size": 32},
        "fits_at": {"memory_limit_bytes": 512 << 20, "batch_size": 1},
    },
)
