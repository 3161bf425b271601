"""A recorded training in which a relu layer goes dead at once and the loss stays where it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling

STEPS = 10
"""Of an epoch."""


def _recorded(losses: Sequence[float], dead: float, gradient: float) -> Program:
    def write(folder: Path) -> None:
        from stethoscope.training.recording.event_writer import EventWriter

        with EventWriter(folder / "run" / "train") as writer:
            for epoch, loss in enumerate(losses):
                for step in range(epoch * STEPS + 5, (epoch + 1) * STEPS + 1, 5):
                    share = dead if step > STEPS else 0.1
                    values = {
                        "dead_fraction/hidden": share,
                        "zero_fraction/hidden": share,
                        "gradient_norm/hidden": gradient,
                    }
                    writer.scalars(step, values, wall_time=1e9 + step / 10)
                writer.scalars(epoch, {"epoch_loss": loss}, wall_time=1e9 + epoch + 1)

    return Program(logs=write)


def _faulty() -> Program:
    return _recorded([13.7 + 0.001 * (epoch % 3) for epoch in range(20)], dead=1.0, gradient=0.0)


def _healthy() -> Program:
    return _recorded(falling(20), dead=0.3, gradient=0.02)


SPECIMEN = Specimen("stuck-layers", faulty=_faulty, healthy=_healthy)
