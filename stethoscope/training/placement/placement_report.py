"""What training here and predicting there came to."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.xla_use import XlaUse


@dataclass(frozen=True)
class Attempt:
    """A prediction on the other device, tried."""

    id: str
    title: str
    works: bool
    """Whether it ran."""
    equal: bool | None = None
    """Whether its outputs are those of the model where it was trained; None when it did not run."""
    max_abs_diff: float | None = None
    reason: str = ""
    """Why it did not run, or was not tried."""
    tried: bool = True
    code: str = ""
    note: str = ""
    wall_s: float = 0.0
    when: str = ""
    """What it is the one to choose for."""


@dataclass(frozen=True)
class Clash:
    """What happened when the trained model predicted on another device."""

    with_xla: bool
    """Whether the model was compiled with XLA in this trial."""
    assumed: bool
    """Whether that is our assumption (as on an accelerator) rather than what the file says."""
    happened: bool
    message: str = ""
    """TensorFlow's sentence, or the other error that came instead."""
    variable: str = ""
    variable_device: str = ""
    calling_device: str = ""
    other_error: bool = False
    """Whether something else went wrong, so that nothing is known about a clash."""


@dataclass(frozen=True)
class PlacementReport:
    """A model trained on one logical CPU device and asked to predict on another, as a GPU and a CPU would be."""

    use: XlaUse
    clash: Clash | None
    attempts: tuple[Attempt, ...] = ()
    train_device: str = ""
    predict_device: str = ""
    rows: int = 0
    steps: int = 0
    final_loss: float | None = None
    assumed: tuple[str, ...] = ()
    """What nobody said and was assumed: data, loss, optimizer."""
    sentence: str = ""


def summed_up(use: XlaUse, clash: Clash | None, attempts: tuple[Attempt, ...]) -> str:
    """The one sentence to show first."""
    if clash is None or clash.other_error:
        return f"The trial could not be made: {clash.message if clash else 'the model was not trained'}."
    if not clash.happened:
        how = "with XLA" if clash.with_xla else "as saved, without XLA"
        return f"No clash: trained on one device it predicts on another ({how})."
    good = [
        f"{attempt.title[:1].lower()}{attempt.title[1:]}" for attempt in attempts if attempt.works and attempt.equal
    ]
    begin = (
        "As saved it does not clash; compiled with XLA (jit_compile=True) it does"
        if clash.assumed
        else "Trained on one device it cannot predict on another"
    )
    if not attempts or not any(attempt.tried for attempt in attempts):
        return f"{begin}. No remedy was tried yet."
    if not good:
        return f"{begin}, and none of the remedies gives the same outputs for this model."
    return f"{begin}. {len(good)} of {len(attempts)} ways give the same outputs: {'; '.join(good)}."
