"""Other ways of running the same model that may need less memory. Standard library only; nothing is run here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.run_settings import CALLS, RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

Kind = Literal["call", "xla", "batch", "precision", "length", "together"]
KINDS: tuple[Kind, ...] = ("call", "xla", "batch", "precision", "length")
_SMALLEST_LENGTH = 8
"""A shorter sequence or a smaller image is no longer the same task."""


@dataclass(frozen=True)
class Alternative:
    """One change to the present settings."""

    id: str
    kind: Kind
    title: str
    settings: RunSettings
    open_size: int | None = None
    """What open dimensions other than the batch are cut to; None to leave them."""
    changes_outputs: str = ""
    """How outputs differ by what is asked, said beforehand; "" where they should be the same up to rounding."""


@dataclass(frozen=True)
class Untried:
    """A kind of change that this model does not offer."""

    kind: Kind
    reason: str


def alternatives(
    present: RunSettings, architecture: Architecture, open_size: int | None, kinds: Sequence[str] = KINDS
) -> tuple[tuple[Alternative, ...], tuple[Untried, ...]]:
    """What can be tried instead of `present`, one change at a time, and the kinds of change that cannot.

    Args:
        present: the settings to improve on.
        architecture: what the file says; only Keras models have call styles, precisions and XLA.
        open_size: the size in use of dimensions the model leaves open, other than the batch; None when it leaves none.
        kinds: of change wanted.
    """
    found: list[Alternative] = []
    untried: list[Untried] = []
    keras = format_of(architecture).live
    for kind in KINDS:
        if kind not in kinds:
            continue
        if kind in ("call", "xla", "precision") and not keras:
            untried.append(
                Untried(kind, "The file is a finished graph: only a Keras model (.keras, .h5) offers a choice.")
            )
            continue
        made = list(_of_kind(kind, present, architecture, open_size))
        found += made
        compiled = kind == "xla" and "call" in kinds and present.call == "function" and not present.xla
        if not made and not compiled:  # a compiled function is among the call styles
            untried.append(Untried(kind, _REASONS[kind]))
    return tuple(found), tuple(untried)


def together(present: RunSettings, chosen: Sequence[Alternative]) -> Alternative | None:
    """Several changes of different kinds at once; None for fewer than two, or where they exclude each other."""
    if len({item.kind for item in chosen}) < 2:
        return None
    changed: dict[str, object] = {}
    for item in chosen:
        new, old = item.settings.to_json(), present.to_json()
        changed |= {name: getattr(item.settings, name) for name in new if new[name] != old[name]}
    settings = replace(present, **changed)  # type: ignore[arg-type]
    if settings.call == "call" and settings.xla:
        return None
    sizes = [item.open_size for item in chosen if item.open_size is not None]
    return Alternative(
        "together",
        "together",
        "Together: " + "; ".join(item.title for item in chosen),
        settings,
        min(sizes, default=None),
        " ".join(item.changes_outputs for item in chosen if item.changes_outputs),
    )


_REASONS: dict[Kind, str] = {
    "call": "No other call style is left to try.",
    "xla": "XLA is on already, or the model is called eagerly, where it has nothing to compile.",
    "batch": "The batch is one row, or the file fixes its size.",
    "precision": "The model has no floating-point layer.",
    "length": "The file fixes every dimension but the batch, or it is short already.",
}


def _of_kind(
    kind: Kind, present: RunSettings, architecture: Architecture, open_size: int | None
) -> Iterator[Alternative]:
    if kind == "call":
        for call in CALLS:
            # "compiled" is tried as XLA where XLA is not on.
            if call != present.call and not (call == "call" and present.xla):
                changed = replace(present, call=call)
                yield Alternative(f"call-{call}", "call", TITLES[call], changed)
    elif kind == "xla" and not present.xla and present.call in ("predict", "predict_on_batch"):
        yield Alternative("xla", "xla", f"{TITLES[present.call]} with jit_compile=True", replace(present, xla=True))
    elif kind == "batch" and not _fixed_batch(architecture):
        for size in sorted(
            {max(1, present.batch_size // part) for part in (2, 4)} - {present.batch_size}, reverse=True
        ):
            yield Alternative(
                f"batch-{size}",
                "batch",
                f"batch of {size:,} instead of {present.batch_size:,}",
                replace(present, batch_size=size),
            )
    elif kind == "precision" and any("float" in layer.dtype for layer in architecture.layers):
        for precision, what in _PRECISIONS.items():
            if precision != present.precision:
                yield Alternative(
                    f"precision-{precision}",
                    "precision",
                    f"{precision}: {what}",
                    replace(present, precision=precision),
                    changes_outputs=f"Outputs are rounded to {precision.removeprefix('mixed_')}.",
                )
    elif kind == "length" and open_size is not None:
        for part in (2, 4):
            if open_size // part >= _SMALLEST_LENGTH:
                size = open_size // part
                yield Alternative(
                    f"length-{size}",
                    "length",
                    f"open dimensions of {size:,} instead of {open_size:,}",
                    present,
                    size,
                    "The model sees less of its input.",
                )


_PRECISIONS = {
    "mixed_bfloat16": "half-size activations, float32 weights",
    "bfloat16": "half-size activations and weights",
    "mixed_float16": "half-size activations, float32 weights, more digits, less range",
}


def _fixed_batch(architecture: Architecture) -> bool:
    return bool(architecture.inputs) and all(
        spec.shape is not None and bool(spec.shape) and spec.shape[0] is not None for spec in architecture.inputs
    )
