"""What may lower the memory of a training: each change with the line of code that makes it. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["checkpointing", "precision", "optimizer", "accumulation"]
CHANGE_KINDS: tuple[ChangeKind, ...] = ("checkpointing", "precision", "optimizer", "accumulation")
_SMALLER_OPTIMIZERS = {
    "SGD": "keeps nothing for each weight",
    "Lion": "keeps one value for each weight",
    "Adafactor": "keeps one value for each weight, and sums of rows and columns",
}
_PARTS = (8, 4, 2)
"""Into how many pieces a batch is cut where gradients are accumulated: the first that leaves whole pieces."""
RECOMPUTE_LAYERS = """\
def computed_again(layer):
    call = layer.call
    layer.call = lambda *args, **more: tf.recompute_grad(lambda *tensors: call(*tensors, **more))(*args)

for layer in model.layers:  # before the first fit
    if not layer.non_trainable_variables:  # dropout would draw other numbers, batch normalization count twice
        computed_again(layer)"""


@dataclass(frozen=True)
class FitChange:
    """One change to a training that leaves its batch and data as they are."""

    id: str
    kind: ChangeKind
    title: str
    code: str
    """The lines that make it."""
    changes_result: str = ""
    """How the training differs by what is asked, said beforehand; "" where it computes the same."""
    remat: Literal["", "activations", "layers"] = ""
    """What is computed again in the backward pass: activations (`keras.RematScope`), or whole layers (`tf.recompute_grad`)."""
    precision: str = ""
    optimizer: str = ""
    accumulate: int = 0
    """Into how many pieces the batch is cut; 0 for none."""


@dataclass(frozen=True)
class UntriedChange:
    """A kind of change that this training does not offer."""

    kind: ChangeKind
    reason: str


def fit_changes(optimizer: str, rows: int, *, modern: bool) -> Iterator[FitChange]:
    """What is tried, one change at a time.

    Args:
        optimizer: Keras' name of the one in use, which is not tried again.
        rows: the batch.
        modern: Keras 3; `keras.RematScope` and accumulation are there only.
    """
    if modern:
        yield FitChange(
            "checkpoint-activations",
            "checkpointing",
            "activations computed again",
            'with keras.RematScope(mode="activations"):\n    model = build_model()',
            remat="activations",
        )
        yield FitChange("checkpoint-layers", "checkpointing", "layers computed again", RECOMPUTE_LAYERS, remat="layers")
    set_policy = "keras.config.set_dtype_policy" if modern else "tf_keras.mixed_precision.set_global_policy"
    for precision in ("mixed_bfloat16", "mixed_float16"):
        yield FitChange(
            precision,
            "precision",
            f"{precision}: half-size activations, float32 weights",
            f'{set_policy}("{precision}")  # before the model is built',
            f"Activations are rounded to {precision.removeprefix('mixed_')}.",
            precision=precision,
        )
    package = "keras" if modern else "tf_keras"
    for name, keeps in _SMALLER_OPTIMIZERS.items():
        if name.lower() != optimizer.lower():
            yield FitChange(
                f"optimizer-{name.lower()}",
                "optimizer",
                f"{name} instead of {optimizer}: {keeps}",
                f"model.compile(optimizer={package}.optimizers.{name}(), loss=…)",
                "Another optimizer takes other steps and wants another learning rate.",
                optimizer=name,
            )
    parts = next((count for count in _PARTS if rows >= count and rows % count == 0), 0)
    if modern and parts:
        yield FitChange(
            "accumulate",
            "accumulation",
            f"{parts} batches of {rows // parts:,}, their gradients added up",
            f"optimizer=keras.optimizers.{optimizer}(gradient_accumulation_steps={parts}) in compile, and "
            f"batch_size={rows // parts} in fit",
            "Batch normalization sees smaller batches; everything else computes the same.",
            accumulate=parts,
        )


def not_offered(rows: int, *, modern: bool) -> Iterator[UntriedChange]:
    """The kinds that `fit_changes` has none of, and why."""
    if not modern:
        yield UntriedChange("checkpointing", "A model of Keras 2: keras.RematScope came with Keras 3.")
        yield UntriedChange("accumulation", "A model of Keras 2: its optimizers add up no gradients.")
    elif not any(rows % count == 0 for count in _PARTS):
        yield UntriedChange("accumulation", f"A batch of {rows:,} does not divide by two.")
