"""What training here and predicting there came to.

Whether a model is compiled so that XLA ties its variables to the device they were made on. Read without running it.

Source: tensorflow.org/xla/known_issues#tfvariable_on_a_different_device; Keras 3.15 `Trainer.compile` ("auto" is XLA
wherever there is a device other than a CPU, no `tf.distribute` scope, and every layer supports it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture


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


Setting = Literal["on", "auto", "off", "not said", "no Keras model"]


@dataclass(frozen=True)
class XlaUse:
    """What the file says about XLA."""

    setting: Setting
    """`jit_compile` of `model.compile`; "auto" and "not said" become XLA where Keras 3 trains on an accelerator."""
    optimizer: bool
    """Whether the optimizer's own update is compiled (`jit_compile=True` of a Keras 2 optimizer)."""
    functions: int
    """Functions of a SavedModel that must be compiled."""
    pins: bool
    """Whether running it as saved uses XLA wherever it runs."""
    sentence: str


def xla_use(architecture: Architecture) -> XlaUse:
    """Reads compile settings."""
    if not format_of(architecture).live:
        sentence = "Not a Keras model with compile settings: nothing in the file asks for XLA."
        return XlaUse("no Keras model", False, 0, False, sentence)
    details: Mapping[str, Any] = architecture.compile.details if architecture.compile is not None else {}
    optimizer = details.get("optimizer")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    # Keras 3 optimizers have no such argument.
    in_optimizer = isinstance(config, Mapping) and config.get("jit_compile") is True
    said = details.get("jit_compile")
    setting: Setting = "on" if said is True else "auto" if said == "auto" else "off" if said is False else "not said"
    return XlaUse(setting, in_optimizer, 0, said is True, _sentence(setting, in_optimizer, architecture))


def _sentence(setting: Setting, optimizer: bool, architecture: Architecture) -> str:
    old = "Keras 2" in architecture.framework_version or "Keras 2" in architecture.display_format
    told = {
        "on": "Compiled with jit_compile=True: its programs can only be run on the device its variables are on.",
        "auto": 'Compiled with jit_compile="auto": Keras 3 uses XLA where it trains on an accelerator, which ties the '
        "variables to it.",
        "off": "Compiled with jit_compile=False: XLA does not tie its variables to a device. Keras 3 also saves False where "
        '"auto" was resolved on a machine without an accelerator; on one with a GPU the same program would use XLA.',
        "not said": "The file does not say jit_compile. Keras 2 leaves XLA off."
        if old
        else "The file does not say jit_compile. Keras 3 then uses XLA where it trains on an accelerator.",
        "no Keras model": "",
    }[setting]
    if optimizer:
        told += " The optimizer's update is compiled as well (jit_compile=True of the optimizer): so is training on another device."
    return told
