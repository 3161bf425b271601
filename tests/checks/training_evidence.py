"""Hand-made training evidence: a base run and trials by their skills."""

from __future__ import annotations

import math
from typing import Any

from stethoscope.evidence.training import LayerTraining, RunCurve, Scores, TrainingEvidence, Trial
from stethoscope.logs.curves import CurveEvidence

FALLING = tuple(1.0 - 0.025 * at for at in range(30))
SETTLED = tuple(0.4 + 0.6 * math.exp(-at / 2) for at in range(30))
CONTINUED = FALLING + tuple(0.25 * math.exp(-at / 10) for at in range(1, 31))
"""What `longer` sees: the base's curve and as much again."""
FLAT = tuple(0.69 + 0.001 * math.sin(at * 7.0) for at in range(30))


def run(skill: float, loss: tuple[float, ...] = FALLING, val_skill: float | None = None, **more: Any) -> RunCurve:
    settings: dict[str, Any] = {
        "seed": 0,
        "steps_done": len(loss) * 10,
        "epochs_done": float(len(loss)),
        "steps": tuple(range(10, len(loss) * 10 + 1, 10)),
        "loss": loss,
        "epoch_loss": loss,
        "epoch_score": (skill,) * len(loss),
        "final": Scores(loss=loss[-1], score=skill, skill=skill, val_skill=val_skill),
        "max_loss": max(loss),
    }
    return RunCurve(**{**settings, **more})


def trial(name: str, skill: float, value: float | None = None, val_skill: float | None = None, **more: Any) -> Trial:
    settings: dict[str, Any] = {
        "id": name,
        "title": f"With {name}",
        "runs": (run(skill, CONTINUED if name == "longer" else FALLING, val_skill),),
        "value": value,
        "helps": True,
        "effect": 0.5,
    }
    return Trial(**{**settings, **more})


def training(*trials: Trial, base: RunCurve | None = None, **more: Any) -> TrainingEvidence:
    settings: dict[str, Any] = {
        "loss": "binary_crossentropy",
        "optimizer": "Adam",
        "learning_rate": 1e-3,
        "batch_size": 32,
        "epochs_asked": 30,
        "steps_per_epoch": 10,
        "train_rows": 320,
        "val_rows": 0,
        "score_name": "accuracy",
        "chance": 0.5,
        "base": (base or run(0.2),),
        "trials": trials,
    }
    return TrainingEvidence(**{**settings, **more})


def layer(path: str, gradients: float | tuple[float, ...], activation: str = "relu", **more: Any) -> LayerTraining:
    norms = gradients if isinstance(gradients, tuple) else (gradients,) * 6
    settings: dict[str, Any] = {
        "type": "Dense",
        "trainable": True,
        "parameters": 100,
        "gradient_norm": norms,
        "update_ratio": (1e-3,) * len(norms),
        "relative_change": 0.3,
    }
    return LayerTraining(path=path, activation=activation, **{**settings, **more})


def log(loss: tuple[float, ...], **more: Any) -> CurveEvidence:
    steps = tuple(float(at) for at in range(len(loss)))
    held = {"val_steps": steps[: len(more["val_loss"])]} if "val_loss" in more and "val_steps" not in more else {}
    return CurveEvidence(run="log.csv", source="log", unit="epoch", steps=steps, loss=loss, **held, **more)
